/* perf_maps.c - see perf_maps.h. */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include "format/pages.h"
#include "format/raw.h"
#include "perf_maps.h"

enum {
	MAPPINGS_MAX = 8192,
	FORKS_MAX = 4096,
	PATIENCE = 1024,
	PATHS_BYTES = 1 << 20,
	PATH_BYTES_MAX = 4096,
	KNOWN_MAX = 4096, /* a power of two */
	GENERATIONS_MAX = 16,
	PAGE_SHIFT = 12,
	HEAD_BYTES = 4096, /* of an ELF file, with its program headers */
};

struct fork {
	uint32_t pid, parent;
	uint64_t raw_ns;
};

/* A page that was found to be code, in this state of the maps. */
struct known {
	uint64_t page;
	uint32_t pid, n_mappings;
};

struct trc_perf_maps {
	uint32_t n_mappings, n_forks;
	uint32_t patience; /* so many more may find no room before it is made again */
	uint64_t paths_used;
	bool incomplete;
	uint64_t lost_from_ns, lost_to_ns; /* all losses lie in between; 0 = none */
	struct known known[KNOWN_MAX];
	struct trc_perf_mapping mapping[MAPPINGS_MAX];
	struct fork fork[FORKS_MAX];
	uint32_t by_path[MAPPINGS_MAX]; /* while paths are moved */
	char paths[PATHS_BYTES];
};

struct trc_perf_maps *trc_perf_maps_make(void)
{
	return trc_pages_map(sizeof(struct trc_perf_maps));
}

void trc_perf_maps_free(struct trc_perf_maps *m)
{
	trc_pages_unmap(m, sizeof(*m));
}

void trc_perf_maps_lost(struct trc_perf_maps *m, uint64_t from_ns, uint64_t to_ns)
{
	m->incomplete = true;
	if (!m->lost_to_ns || from_ns < m->lost_from_ns)
		m->lost_from_ns = from_ns;
	if (to_ns > m->lost_to_ns)
		m->lost_to_ns = to_ns;
}

/* The same path once, if it comes again soon: of several mappings of one file. */
static const char *path_keep(struct trc_perf_maps *m, const char *path)
{
	size_t n_bytes = strlen(path) + 1;
	char *at = m->paths + m->paths_used;

	for (uint32_t i = m->n_mappings; i-- > 0 && m->n_mappings - i < 8;)
		if (!strcmp(m->mapping[i].path, path))
			return m->mapping[i].path;
	if (n_bytes > PATHS_BYTES - m->paths_used)
		return NULL;
	memcpy(at, path, n_bytes);
	m->paths_used += n_bytes;
	return at;
}

/* Later mappings have taken all of its place. */
static bool map_is_gone(const struct trc_perf_maps *m, uint32_t i)
{
	const struct trc_perf_mapping *old = &m->mapping[i];

	for (uint32_t k = i + 1; k < m->n_mappings; k++) {
		const struct trc_perf_mapping *at = &m->mapping[k];

		if (at->pid == old->pid && at->start <= old->start && at->limit >= old->limit &&
		    at->raw_ns >= old->raw_ns)
			return true;
	}
	return false;
}

/* As their paths lie; most do already. */
static void sort_by_path(struct trc_perf_maps *m)
{
	for (uint32_t i = 0; i < m->n_mappings; i++) {
		uint32_t k = i;

		for (; k && m->mapping[m->by_path[k - 1]].path > m->mapping[i].path; k--)
			m->by_path[k] = m->by_path[k - 1];
		m->by_path[k] = i;
	}
}

/* Leaves the paths of the mappings that there are. */
static void compact_paths(struct trc_perf_maps *m)
{
	const char *before = NULL;
	char *at = m->paths;

	sort_by_path(m);
	m->paths_used = 0;
	for (uint32_t i = 0; i < m->n_mappings; i++) {
		struct trc_perf_mapping *mapping = &m->mapping[m->by_path[i]];

		if (mapping->path != before) {
			size_t n_bytes = strlen(mapping->path) + 1;

			before = mapping->path;
			at = m->paths + m->paths_used;
			memmove(at, before, n_bytes); /* down, if at all */
			m->paths_used += n_bytes;
		}
		mapping->path = at;
	}
}

/* P1 */
static void maps_make_room(struct trc_perf_maps *m)
{
	uint32_t n_before = m->n_mappings, n = 0;

	if (m->patience && m->patience--)
		return;
	for (uint32_t i = 0; i < n_before; i++)
		if (i >= n_before / 2 || !map_is_gone(m, i))
			m->mapping[n++] = m->mapping[i];
	m->n_mappings = n;
	compact_paths(m);
	if (n == n_before || m->paths_used > PATHS_BYTES - PATH_BYTES_MAX)
		m->patience = PATIENCE;
	memset(m->known, 0, sizeof(m->known));
}

void trc_perf_maps_add(struct trc_perf_maps *m, const struct trc_perf_mapping *mapping)
{
	const char *path;

	if (m->n_mappings == MAPPINGS_MAX)
		maps_make_room(m);
	path = m->n_mappings < MAPPINGS_MAX ? path_keep(m, mapping->path) : NULL;
	if (!path && m->n_mappings < MAPPINGS_MAX) {
		maps_make_room(m);
		path = path_keep(m, mapping->path);
	}
	if (!path) {
		trc_perf_maps_lost(m, mapping->raw_ns, mapping->raw_ns);
		return;
	}
	m->mapping[m->n_mappings] = *mapping;
	m->mapping[m->n_mappings++].path = path;
}

void trc_perf_maps_fork(struct trc_perf_maps *m, uint32_t pid, uint32_t parent, uint64_t raw_ns)
{
	if (m->n_forks == FORKS_MAX)
		m->incomplete = true;
	else
		m->fork[m->n_forks++] = (struct fork){pid, parent, raw_ns};
}

/* ---- finding --------------------------------------------------------------------------- */

static const struct trc_perf_mapping *find_own(const struct trc_perf_maps *m, uint32_t pid,
					       uint64_t address, uint64_t raw_ns)
{
	const struct trc_perf_mapping *found = NULL;

	for (uint32_t i = 0; i < m->n_mappings; i++) {
		const struct trc_perf_mapping *at = &m->mapping[i];

		if (at->pid == pid && address >= at->start && address < at->limit &&
		    at->raw_ns <= raw_ns && (!found || at->raw_ns >= found->raw_ns))
			found = at;
	}
	return found;
}

/* The latest birth of a process of this pid; NULL = it was there before. */
static const struct fork *birth_of(const struct trc_perf_maps *m, uint32_t pid, uint64_t raw_ns)
{
	for (uint32_t i = m->n_forks; i-- > 0;)
		if (m->fork[i].pid == pid && m->fork[i].raw_ns <= raw_ns)
			return &m->fork[i];
	return NULL;
}

const struct trc_perf_mapping *trc_perf_maps_find(const struct trc_perf_maps *m, uint32_t pid,
						  uint64_t address, uint64_t raw_ns)
{
	for (int i = 0; i < GENERATIONS_MAX; i++) {
		const struct trc_perf_mapping *found = find_own(m, pid, address, raw_ns);
		const struct fork *birth = found ? NULL : birth_of(m, pid, raw_ns);

		if (!birth)
			return found;
		pid = birth->parent;
		raw_ns = birth->raw_ns;
	}
	return NULL;
}

bool trc_perf_maps_is_sure(const struct trc_perf_maps *m, const struct trc_perf_mapping *mapping,
			   uint64_t raw_ns)
{
	if (!m->lost_to_ns || m->lost_to_ns < mapping->raw_ns || m->lost_from_ns > raw_ns)
		return true;
	for (uint32_t i = 0; i < m->n_mappings; i++) {
		const struct trc_perf_mapping *at = &m->mapping[i];

		if (at != mapping && at->pid == mapping->pid && at->start < mapping->limit &&
		    at->limit > mapping->start)
			return false;
	}
	return true;
}

bool trc_perf_maps_may_be_code(struct trc_perf_maps *m, uint32_t pid, uint64_t address,
			       uint64_t raw_ns)
{
	uint64_t page = address >> PAGE_SHIFT;
	struct known *known = &m->known[(page ^ pid) & (KNOWN_MAX - 1)];

	if (m->incomplete)
		return true;
	if (known->page == page && known->pid == pid && known->n_mappings == m->n_mappings)
		return true;
	if (!trc_perf_maps_find(m, pid, address, raw_ns))
		return false;
	*known = (struct known){page, pid, m->n_mappings};
	return true;
}

/* ---- ELF ------------------------------------------------------------------------------- */

/* The segment that holds this offset of the file says where it wants to be. */
static uint64_t segment_bias(const char *head, size_t n_bytes, uint64_t file_offset)
{
	Elf64_Ehdr elf;

	if (n_bytes < sizeof(elf) || memcmp(head, ELFMAG, SELFMAG) != 0)
		return 0;
	memcpy(&elf, head, sizeof(elf));
	for (unsigned int i = 0; i < elf.e_phnum && elf.e_phentsize == sizeof(Elf64_Phdr); i++) {
		uint64_t page = (1 << PAGE_SHIFT) - 1;
		Elf64_Phdr p;

		if (elf.e_phoff > n_bytes || n_bytes - elf.e_phoff < (i + 1) * sizeof(p))
			return 0;
		memcpy(&p, head + elf.e_phoff + i * sizeof(p), sizeof(p));
		if (p.p_type == PT_LOAD && file_offset >= (p.p_offset & ~page) &&
		    file_offset < p.p_offset + p.p_filesz && (p.p_flags & PF_X))
			return p.p_offset - p.p_vaddr;
	}
	return 0;
}

uint64_t trc_perf_mapping_bias(const struct trc_perf_mapping *mapping)
{
	char head[HEAD_BYTES];
	uint64_t bias = mapping->start - mapping->file_offset;
	int fd = (int)trc_raw4(SYS_openat, AT_FDCWD, mapping->path,
			       O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
	long n;

	if (fd < 0)
		return bias; /* as with most files */
	n = trc_raw3(SYS_read, fd, head, sizeof(head));
	trc_raw1(SYS_close, fd);
	return bias + segment_bias(head, n > 0 ? (size_t)n : 0, mapping->file_offset);
}
