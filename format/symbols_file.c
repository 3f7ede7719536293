/*
 * symbols_file.c - where debug files are looked for, in this order:
 *
 *   the module itself, if it has .debug_info
 *   DIR/.build-id/xx/rest.debug    DIR in $TRC_DEBUG_PATH, then /usr/lib/debug
 *   the name in .gnu_debuglink     beside the module, in .debug/ there, in DIR/path
 *   DIR/path, DIR/name, DIR/name.debug
 *   the servers of DEBUGINFOD_URLS, for who may ask them
 *
 * A module that is gone or has changed is replaced by DIR/.build-id/xx/rest, or by a server's file.
 */
#include "symbols_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "path.h"
#include "symbols.h"

#define SYSTEM_DEBUG_DIR "/usr/lib/debug"

/* What a file must be to be believed (F1). */
struct identity {
	const uint8_t *build_id;
	size_t build_id_bytes; /* 0 = none: the checksum counts */
	bool has_crc;
	GElf_Word crc;
	const struct trc_symbols_visit *visit; /* not NULL: files are only named */
};

static void elf_file_close(struct trc_elf_file *file)
{
	if (file->elf)
		elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	file->elf = NULL;
}

static bool elf_file_open(struct trc_elf_file *file, const char *path)
{
	struct stat status;

	file->elf = NULL;
	/* O_NONBLOCK: a path in a trace may name a FIFO, which must not hold us. */
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file->fd < 0)
		return false;
	if (!fstat(file->fd, &status) && S_ISREG(status.st_mode))
		file->elf = elf_begin(file->fd, file->mapped ? ELF_C_READ_MMAP : ELF_C_READ, NULL);
	if (file->elf && elf_kind(file->elf) == ELF_K_ELF)
		return true;
	elf_file_close(file);
	return false;
}

static bool crc_matches(int fd, GElf_Word wanted)
{
	static const size_t CHUNK_BYTES = 1 << 16;
	uint8_t *chunk = malloc(CHUNK_BYTES);
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t got = -1;

	while (chunk && (got = pread(fd, chunk, CHUNK_BYTES, at)) > 0) {
		crc = crc32(crc, chunk, (uInt)got);
		at += got;
	}
	free(chunk);
	return got == 0 && crc == wanted;
}

static bool identity_matches(const struct identity *wanted, const struct trc_elf_file *file)
{
	const void *build_id;
	ssize_t n_bytes = dwelf_elf_gnu_build_id(file->elf, &build_id);

	if (wanted->build_id_bytes)
		return n_bytes > 0 && (size_t)n_bytes == wanted->build_id_bytes &&
		       !memcmp(build_id, wanted->build_id, wanted->build_id_bytes);
	return wanted->has_crc && crc_matches(file->fd, wanted->crc);
}

static bool open_matching(struct trc_elf_file *file, const char *path,
			  const struct identity *wanted)
{
	if (wanted->visit) {
		wanted->visit->path(wanted->visit->context, path);
		return false;
	}
	if (!elf_file_open(file, path))
		return false;
	if (identity_matches(wanted, file))
		return true;
	elf_file_close(file);
	return false;
}

/* dir + "/.build-id/xx/rest" + suffix; false if it does not fit. */
static bool build_id_path(char path[PATH_MAX], const char *dir, const struct identity *wanted,
			  const char *suffix)
{
	int at = snprintf(path, PATH_MAX, "%s/.build-id/", dir);

	for (size_t i = 0; i < wanted->build_id_bytes; i++) {
		if (at < 0 || at > PATH_MAX - 16)
			return false;
		at += snprintf(path + at, (size_t)(PATH_MAX - at), "%02x%s", wanted->build_id[i],
			       i == 0 ? "/" : "");
	}
	if (wanted->build_id_bytes < 2 || at < 0 || at > PATH_MAX - 16)
		return false;
	snprintf(path + at, (size_t)(PATH_MAX - at), "%s", suffix);
	return true;
}

/* A directory to search; returns true once *file is open. */
typedef bool search_fn(struct trc_elf_file *file, const char *dir, const void *what);

static bool search_dirs(struct trc_elf_file *file, search_fn *search, const void *what)
{
	const char *list = getenv("TRC_DEBUG_PATH");
	char dir[PATH_MAX];

	while (list && *list) {
		const char *colon = strchrnul(list, ':');
		size_t n_bytes = (size_t)(colon - list);

		if (n_bytes && n_bytes < sizeof(dir)) {
			memcpy(dir, list, n_bytes);
			dir[n_bytes] = 0;
			if (search(file, dir, what))
				return true;
		}
		list = *colon ? colon + 1 : colon;
	}
	return search(file, SYSTEM_DEBUG_DIR, what);
}

struct wanted_file {
	const struct identity *identity;
	const char *suffix; /* of the name by build id */
	const char *path;   /* of the module */
	const char *link;   /* .gnu_debuglink's name, or NULL */
};

static bool search_by_build_id(struct trc_elf_file *file, const char *dir, const void *what)
{
	const struct wanted_file *wanted = what;
	char path[PATH_MAX];

	return build_id_path(path, dir, wanted->identity, wanted->suffix) &&
	       open_matching(file, path, wanted->identity);
}

static bool try_path(struct trc_elf_file *file, const struct identity *identity, const char *format,
		     ...) __attribute__((format(printf, 3, 4)));

static bool try_path(struct trc_elf_file *file, const struct identity *identity, const char *format,
		     ...)
{
	char path[PATH_MAX];
	va_list arguments;
	int n_bytes;

	va_start(arguments, format);
	n_bytes = vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	return n_bytes > 0 && (size_t)n_bytes < sizeof(path) && open_matching(file, path, identity);
}

static bool search_by_name(struct trc_elf_file *file, const char *dir, const void *what)
{
	const struct wanted_file *wanted = what;
	const struct identity *identity = wanted->identity;
	const char *name = trc_path_name(wanted->path);
	int dir_bytes = (int)(name - wanted->path);

	if (wanted->link &&
	    try_path(file, identity, "%s%.*s%s", dir, dir_bytes, wanted->path, wanted->link))
		return true;
	if (wanted->link && try_path(file, identity, "%s/%s", dir, wanted->link))
		return true;
	return try_path(file, identity, "%s%s", dir, wanted->path) ||
	       try_path(file, identity, "%s/%s", dir, name) ||
	       try_path(file, identity, "%s/%s.debug", dir, name);
}

static bool search_beside(struct trc_elf_file *file, const struct wanted_file *wanted)
{
	int dir_bytes = (int)(trc_path_name(wanted->path) - wanted->path);

	return wanted->link &&
	       (try_path(file, wanted->identity, "%.*s%s", dir_bytes, wanted->path, wanted->link) ||
		try_path(file, wanted->identity, "%.*s.debug/%s", dir_bytes, wanted->path,
			 wanted->link));
}

static bool file_has_section(Elf *elf, const char *name, const char *other_name)
{
	size_t names;
	Elf_Scn *section = NULL;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *found;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		found = elf_strptr(elf, names, header.sh_name);
		if (found && (!strcmp(found, name) || !strcmp(found, other_name)))
			return true;
	}
	return false;
}

static bool has_dwarf(Elf *elf)
{
	return file_has_section(elf, ".debug_info", ".zdebug_info");
}

bool trc_symbols_is_vdso(const char *path)
{
	return path && (!strcmp(path, "linux-vdso.so.1") || !strcmp(path, "linux-gate.so.1"));
}

/* As the kernel has mapped it: section headers stand at its end. */
static size_t vdso_bytes(const ElfW(Ehdr) * vdso)
{
	return vdso ? vdso->e_shoff + (size_t)vdso->e_shnum * vdso->e_shentsize : 0;
}

static bool open_vdso(struct trc_symbols_file *file, const struct identity *identity)
{
	const ElfW(Ehdr) *vdso = (const ElfW(Ehdr) *)getauxval(AT_SYSINFO_EHDR);
	size_t n_bytes = vdso_bytes(vdso);

	file->trouble = "of another kernel";
	file->vdso = n_bytes ? malloc(n_bytes) : NULL;
	if (!file->vdso)
		return false;
	memcpy(file->vdso, vdso, n_bytes);
	file->main.elf = elf_memory(file->vdso, n_bytes);
	if (file->main.elf && identity->build_id_bytes && identity_matches(identity, &file->main))
		return true;
	elf_file_close(&file->main);
	return false;
}

/* True once *to is open. */
static bool open_fetched(struct trc_symbols_file *file, struct trc_elf_file *to,
			 struct trc_symbols_fetch *fetch, enum trc_fetched what,
			 const struct identity *wanted)
{
	const char *why = NULL;
	char *path = fetch && wanted->build_id_bytes
			     ? trc_symbols_fetch(fetch, what, wanted->build_id,
						 wanted->build_id_bytes, &why)
			     : NULL;
	bool opened = path && open_matching(to, path, wanted);

	free(path);
	if (why && !file->trouble)
		file->trouble = why;
	return opened;
}

static bool open_main(struct trc_symbols_file *file, const struct trc_module_entry *module,
		      const struct identity *identity, struct trc_symbols_fetch *fetch)
{
	const struct wanted_file wanted = {
		.identity = identity, .suffix = "", .path = module->path};
	const void *build_id;

	if (!module->path || module->path[0] != '/') {
		file->trouble = "is not a file";
		return false;
	}
	if (!elf_file_open(&file->main, module->path)) {
		file->trouble = "not found";
	} else if (identity->build_id_bytes
			   ? identity_matches(identity, &file->main)
			   : dwelf_elf_gnu_build_id(file->main.elf, &build_id) <= 0) {
		return true;
	} else {
		file->trouble = "changed since the recording";
		elf_file_close(&file->main);
	}
	return identity->build_id_bytes &&
	       (search_dirs(&file->main, search_by_build_id, &wanted) ||
		open_fetched(file, &file->main, fetch, TRC_FETCHED_PROGRAM, identity));
}

static void open_debug(struct trc_symbols_file *file, const struct trc_module_entry *module,
		       const struct identity *module_identity, struct trc_symbols_fetch *fetch)
{
	struct identity identity = *module_identity;
	struct wanted_file wanted = {
		.identity = &identity, .suffix = ".debug", .path = module->path};

	if (file->main.elf) {
		wanted.link = dwelf_elf_gnu_debuglink(file->main.elf, &identity.crc);
		identity.has_crc = wanted.link != NULL;
	}
	if (wanted.link && (!*wanted.link || strchr(wanted.link, '/')))
		wanted.link = NULL;
	if (identity.build_id_bytes && search_dirs(&file->debug, search_by_build_id, &wanted))
		return;
	if (identity.build_id_bytes || identity.has_crc)
		if (search_beside(&file->debug, &wanted) ||
		    search_dirs(&file->debug, search_by_name, &wanted))
			return;
	open_fetched(file, &file->debug, fetch, TRC_FETCHED_DEBUG_FILE, &identity);
}

static bool is_strings(const char *name)
{
	return name && (!strcmp(name, ".debug_str") || !strcmp(name, ".debug_line_str") ||
			!strcmp(name, ".zdebug_str") || !strcmp(name, ".zdebug_line_str"));
}

/* As libdw will see it: not compressed. */
static bool ends_with_zero(Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
	const Elf_Data *data;

	if (header->sh_type == SHT_NOBITS)
		return true;
	if (header->sh_flags & SHF_COMPRESSED
		    ? elf_compress(section, 0, 0) < 0
		    : name[1] == 'z' && elf_compress_gnu(section, 0, 0) < 0)
		return false;
	data = elf_getdata(section, NULL);
	return data &&
	       (!data->d_size || (data->d_buf && !((const char *)data->d_buf)[data->d_size - 1]));
}

/* libdw reads a string up to its zero, which it trusts to be there: at the end of .debug_line_str
 * versions up to 0.188 read on behind the file. */
static bool has_ended_strings(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		if (is_strings(name) && !ends_with_zero(section, &header, name))
			return false;
	}
	return true;
}

/* NULL = what it has is not to be read. */
static Dwarf *begin_dwarf(Elf *elf)
{
	return has_ended_strings(elf) ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
}

/* dwz's common file: a path (from the debug file's own, if relative) and a build id. */
static void open_alt(struct trc_symbols_file *file, struct trc_symbols_fetch *fetch)
{
	struct identity identity = {0};
	struct wanted_file wanted = {.identity = &identity, .suffix = ".debug"};
	const void *build_id;
	ssize_t n_bytes = dwelf_dwarf_gnu_debugaltlink(file->dwarf, &wanted.path, &build_id);

	if (n_bytes <= 0)
		return;
	identity.build_id = build_id;
	identity.build_id_bytes = (size_t)n_bytes;
	if (!search_dirs(&file->alt, search_by_build_id, &wanted) &&
	    (wanted.path[0] != '/' || !open_matching(&file->alt, wanted.path, &identity)) &&
	    !search_dirs(&file->alt, search_by_name, &wanted))
		open_fetched(file, &file->alt, fetch, TRC_FETCHED_DEBUG_FILE, &identity);
	if (file->alt.elf)
		file->alt_dwarf = begin_dwarf(file->alt.elf);
	if (file->alt_dwarf)
		dwarf_setalt(file->dwarf, file->alt_dwarf);
}

static struct identity identity_of(const struct trc_module_entry *module)
{
	return (struct identity){
		.build_id = module->build_id,
		.build_id_bytes = module->build_id_bytes <= TRC_BUILD_ID_BYTES_MAX
					  ? module->build_id_bytes
					  : 0,
	};
}

void trc_symbols_file_open(struct trc_symbols_file *file, const struct trc_module_entry *module,
			   bool mapped, struct trc_symbols_fetch *fetch)
{
	const struct trc_elf_file none = {.fd = -1, .mapped = mapped};
	const struct identity identity = identity_of(module);

	*file = (struct trc_symbols_file){.main = none, .debug = none, .alt = none};
	if (elf_version(EV_CURRENT) == EV_NONE)
		return;
	if (trc_symbols_is_vdso(module->path)) {
		if (open_vdso(file, &identity))
			file->trouble = NULL;
		return;
	}
	if (open_main(file, module, &identity, fetch))
		file->trouble = NULL;
	else if (!module->path || module->path[0] != '/')
		return;
	if (file->main.elf && has_dwarf(file->main.elf)) {
		file->dwarf = begin_dwarf(file->main.elf);
	} else {
		open_debug(file, module, &identity, fetch);
		if (file->debug.elf && has_dwarf(file->debug.elf))
			file->dwarf = begin_dwarf(file->debug.elf);
		if (file->main.elf && !file->debug.elf &&
		    !file_has_section(file->main.elf, ".symtab", ".symtab"))
			trc_symbols_mini_open(&file->mini, file->main.elf);
	}
	if (file->dwarf) {
		open_alt(file, fetch);
		file->trouble = NULL;
	} else if (!file->trouble) {
		file->trouble = TRC_SYMBOLS_NO_DEBUG_FILE;
	}
}

void trc_symbols_file_close(struct trc_symbols_file *file)
{
	if (file->dwarf)
		dwarf_end(file->dwarf);
	if (file->alt_dwarf)
		dwarf_end(file->alt_dwarf);
	trc_symbols_mini_close(&file->mini);
	elf_file_close(&file->alt);
	elf_file_close(&file->debug);
	elf_file_close(&file->main);
	free(file->vdso);
	file->vdso = NULL;
	file->dwarf = file->alt_dwarf = NULL;
	file->trouble = NULL;
}

void trc_symbols_places(const struct trc_module_entry *module,
			const struct trc_symbols_visit *visit)
{
	const struct trc_elf_file none = {.fd = -1};
	struct trc_symbols_file file = {.main = none, .debug = none, .alt = none};
	struct identity identity = identity_of(module);

	if (!module->path || module->path[0] != '/' || elf_version(EV_CURRENT) == EV_NONE)
		return;
	visit->path(visit->context, module->path);
	identity.visit = visit;
	open_main(&file, module, &identity, NULL);
	if (!file.main.elf || !has_dwarf(file.main.elf))
		open_debug(&file, module, &identity, NULL);
	elf_file_close(&file.main);
}

const char *trc_symbols_file_section(const struct trc_symbols_file *file, uint64_t address,
				     uint64_t *offset)
{
	const uint64_t data = SHF_ALLOC | SHF_WRITE;
	Elf *elf = file->main.elf ? file->main.elf : file->debug.elf;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		/* That of threads' variables has addresses of other sections. */
		if (!gelf_getshdr(section, &header) || (header.sh_flags & data) != data ||
		    header.sh_flags & SHF_TLS || address < header.sh_addr ||
		    address - header.sh_addr >= header.sh_size)
			continue;
		*offset = address - header.sh_addr;
		return elf_strptr(elf, names, header.sh_name);
	}
	return NULL;
}
