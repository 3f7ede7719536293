/* go.c - whether Go runs in this process (signal.h). */
#include <link.h>
#include <string.h>
#include "signal.h"
#include "recorder/unwind/poison.h"

/* Whether there is one of Go's among the notes at [note, end). */
static bool notes_of_go(const char *note, const char *end)
{
	enum { GO_BUILD_ID = 4 };

	while (end - note >= (long)sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)note;
		const char *name = note + sizeof(*n);

		if (n->n_namesz > 64 || n->n_descsz > 4096)
			return false;
		note = name + ((n->n_namesz + 3UL) & ~3UL) + ((n->n_descsz + 3UL) & ~3UL);
		if (note <= end && n->n_type == GO_BUILD_ID && n->n_namesz == 4 &&
		    !memcmp(name, "Go\0", 4))
			return true;
	}
	return false;
}

static int look_for_go(struct dl_phdr_info *info, size_t n_bytes, void *found)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const char *note = (const char *)info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_NOTE && notes_of_go(note, note + p->p_memsz))
			*(bool *)found = true;
	}
	return *(bool *)found;
}

bool trc_runs_go(void)
{
	static bool known, found;

	if (!known)
		dl_iterate_phdr(look_for_go, &found);
	known = true;
	return found;
}
