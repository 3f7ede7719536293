/* needed.c - the runtime of a sanitizer that a program is linked with. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "tool.h"

enum { PHDRS_MAX = 64, DYNAMIC_MAX = 512 };

struct program {
	int fd;
	Elf64_Phdr phdr[PHDRS_MAX];
	unsigned int n_phdrs;
	Elf64_Dyn dynamic[DYNAMIC_MAX];
	size_t n_dynamic;
};

static bool needed_read(int fd, void *to, size_t n_bytes, uint64_t off)
{
	return off <= INT64_MAX && pread(fd, to, n_bytes, (off_t)off) == (ssize_t)n_bytes;
}

static const Elf64_Phdr *find_phdr(const struct program *p, uint32_t type, uint64_t address)
{
	for (unsigned int i = 0; i < p->n_phdrs; i++) {
		const Elf64_Phdr *at = &p->phdr[i];

		if (at->p_type == type && (type != PT_LOAD || address - at->p_vaddr < at->p_filesz))
			return at;
	}
	return NULL;
}

static bool read_program(struct program *p)
{
	const Elf64_Phdr *dynamic;
	Elf64_Ehdr elf;

	if (!needed_read(p->fd, &elf, sizeof(elf), 0) || memcmp(elf.e_ident, ELFMAG, SELFMAG) ||
	    elf.e_phentsize != sizeof(*p->phdr) || elf.e_phnum > PHDRS_MAX)
		return false;
	p->n_phdrs = elf.e_phnum;
	if (!needed_read(p->fd, p->phdr, p->n_phdrs * sizeof(*p->phdr), elf.e_phoff))
		return false;
	dynamic = find_phdr(p, PT_DYNAMIC, 0);
	if (!dynamic || dynamic->p_filesz > sizeof(p->dynamic))
		return false;
	p->n_dynamic = dynamic->p_filesz / sizeof(*p->dynamic);
	return needed_read(p->fd, p->dynamic, p->n_dynamic * sizeof(*p->dynamic),
			   dynamic->p_offset);
}

/* Where its names lie in the file; 0 = nowhere. */
static uint64_t names_off(const struct program *p)
{
	for (size_t i = 0; i < p->n_dynamic; i++) {
		uint64_t address = p->dynamic[i].d_un.d_ptr;
		const Elf64_Phdr *load =
			p->dynamic[i].d_tag == DT_STRTAB ? find_phdr(p, PT_LOAD, address) : NULL;

		if (load)
			return load->p_offset + (address - load->p_vaddr);
	}
	return 0;
}

bool trc_target_is_sanitizer(const char *name)
{
	static const char *const runtimes[] = {"libasan.so", "libtsan.so",	 "libhwasan.so",
					       "liblsan.so", "libclang_rt.asan", "libclang_rt.tsan",
					       NULL};

	for (int i = 0; runtimes[i]; i++)
		if (strstr(name, runtimes[i]))
			return true;
	return false;
}

bool trc_target_sanitizer(const char *path, char name[TRC_SANITIZER_BYTES])
{
	struct program p = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
	uint64_t names = p.fd >= 0 && read_program(&p) ? names_off(&p) : 0;
	bool found = false;

	for (size_t i = 0; names && i < p.n_dynamic && !found; i++) {
		ssize_t n;

		if (p.dynamic[i].d_tag != DT_NEEDED || p.dynamic[i].d_un.d_val > INT32_MAX)
			continue;
		n = pread(p.fd, name, TRC_SANITIZER_BYTES,
			  (off_t)(names + p.dynamic[i].d_un.d_val));
		found = n > 0 && memchr(name, '\0', (size_t)n) && !strpbrk(name, " :") &&
			trc_target_is_sanitizer(name);
	}
	if (p.fd >= 0)
		close(p.fd);
	return found;
}
