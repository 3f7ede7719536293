/*
 * modules.c - which shared objects lie where: the module table.
 *
 * Objects are found when a stack is seen for the first time, by glibc's _dl_find_object(), which is
 * lock-free and signal safe.  Objects present at the start of a recording are found by
 * dl_iterate_phdr().
 *
 *   modules:M1  a stack of epoch e is explained by the entries with first_epoch <= e <= last_epoch
 *   modules:M2  the epoch goes up before an object may be unloaded; in a new epoch an entry is
 *       checked again before it explains a stack, and closed if its object has gone
 *   modules:M3  after dlclose() the epoch goes up again, and entries whose objects have gone are
 *       closed with the epoch before.  So code that was there during the dlclose() is told from
 *       code that is loaded there later
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "closing.h"
#include "format/raw.h"
#include "recorder/ring/otel.h"
#include "recorder/ring/rec.h"
#include "recorder/unwind/unwind.h"
#include "recorder/unwind/memory.h"

enum { KNOWN_MAX = 256, PATH_BYTES_MAX = 1024, PATH_UNIT = 64, PAGE_BYTES = 4096 };

/* What dl_iterate_phdr() told at the last scan: for sessions that begin where it may not be
 * called (a forked child). */
static struct trc_module_entry known[KNOWN_MAX];
static uint32_t n_known;
/* Whole paths of those among them that were not. */
static char known_paths[8192];
static size_t known_path_bytes;
static char exe_path[PATH_BYTES_MAX];

typedef int find_object_fn(void *address, void *result);
static find_object_fn *find_object;

/* The program.  Its segments may have gaps between them: then _dl_find_object() tells of the segment
 * alone, as it lies, and not where the ELF header is.  All other objects take one stretch of
 * addresses.  The program is never unloaded. */
static struct {
	uint64_t bias;
	const ElfW(Phdr) * phdr;
	uint32_t n_phdrs;
} program;

/* glibc's struct dl_find_object (dlfcn.h, since 2.35), here so that older headers do. */
struct found_object {
	unsigned long long flags;
	void *map_start, *map_end;
	struct link_map *link_map;
	void *eh_frame;
	unsigned long long reserved[7];
};

static const char *module_path(const char *name)
{
	return name && *name ? name : exe_path;
}

/* Finds the GNU build id among the notes at [note, end). */
static void read_build_id(const char *note, const char *end, struct trc_module_entry *m)
{
	while (end - note >= (long)sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)note;
		const char *name = note + sizeof(*n);
		const char *desc = name + ((n->n_namesz + 3UL) & ~3UL);

		if (n->n_namesz > 64 || n->n_descsz > 4096 || desc + n->n_descsz > end)
			return;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && !memcmp(name, "GNU", 4) &&
		    n->n_descsz <= TRC_BUILD_ID_BYTES_MAX) {
			memcpy(m->build_id, desc, n->n_descsz);
			m->build_id_bytes = (uint8_t)n->n_descsz;
			return;
		}
		note = desc + ((n->n_descsz + 3UL) & ~3UL);
	}
}

/* The pages of an executable segment; false if it is another kind of header. */
static bool exec_segment_of(struct trc_module_entry *m, uint64_t bias, const ElfW(Phdr) * p)
{
	const uint64_t page = PAGE_BYTES - 1;

	if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
		return false;
	m->start = (bias + p->p_vaddr) & ~page;
	m->limit = (bias + p->p_vaddr + p->p_memsz + page) & ~page;
	m->file_offset = p->p_offset & ~page;
	return true;
}

/* Describes what all segments of an object have in common. */
static void describe_object(struct trc_module_entry *m, uint64_t bias, const ElfW(Phdr) * phdr,
			    uint32_t n_phdrs, const char *name)
{
	memset(m, 0, sizeof(*m));
	for (uint32_t i = 0; i < n_phdrs && !m->build_id_bytes; i++) {
		uint64_t start = bias + phdr[i].p_vaddr;

		if (phdr[i].p_type == PT_NOTE)
			read_build_id((const char *)start, (const char *)start + phdr[i].p_memsz,
				      m);
	}
	m->load_bias = bias;
	m->path = module_path(name);
}

/* Describes the executable segment that holds `address`. */
static bool module_describe(struct trc_module_entry *m, uint64_t bias, const ElfW(Phdr) * phdr,
			    uint32_t n_phdrs, const char *name, uint64_t address)
{
	for (uint32_t i = 0; i < n_phdrs; i++) {
		struct trc_module_entry segment;

		if (!exec_segment_of(&segment, bias, &phdr[i]) || address < segment.start ||
		    address >= segment.limit)
			continue;
		describe_object(m, bias, phdr, n_phdrs, name);
		return exec_segment_of(m, bias, &phdr[i]);
	}
	return false;
}

static bool same_module(const struct trc_module_slot *slot, const struct trc_module_entry *m)
{
	return slot->start == m->start && slot->limit == m->limit &&
	       slot->load_bias == m->load_bias && slot->build_id_bytes == m->build_id_bytes &&
	       !memcmp(slot->build_id, m->build_id, m->build_id_bytes);
}

/*
 * dlopen() and search paths may name an object from the working directory, which is nobody
 * else's: with it in front, in `room`.  As it is what has no slash (the vdso), is too long, or is not
 * there: the program may have gone to another directory since.
 */
static const char *path_absolute(const char *path, char room[PATH_BYTES_MAX])
{
	size_t n_bytes = strnlen(path, PATH_BYTES_MAX), dir_bytes;
	long n;

	if (*path == '/' || !memchr(path, '/', n_bytes))
		return path;
	n = trc_raw4(SYS_getcwd, room, PATH_BYTES_MAX, 0, 0);
	dir_bytes = n > 1 ? (size_t)n - 1 : 0;
	if (!dir_bytes || *room != '/' || dir_bytes + 1 + n_bytes >= PATH_BYTES_MAX)
		return path;
	if (room[dir_bytes - 1] != '/')
		room[dir_bytes++] = '/';
	memcpy(room + dir_bytes, path, n_bytes + 1);
	return trc_raw3(SYS_faccessat, AT_FDCWD, room, F_OK) ? path : room;
}

/* Counts what has found no room: once, however many stacks it is met in. */
static void count_full(uint64_t start)
{
	enum { PLACES = 256 };
	static _Atomic uint64_t counted[PLACES];
	uint64_t session = atomic_load_explicit(&trc_switch.on, memory_order_relaxed);
	uint64_t module = session << 48 | (start & (UINT64_MAX >> 16));

	if (atomic_exchange_explicit(&counted[start / PAGE_BYTES % PLACES], module,
				     memory_order_relaxed) != module)
		atomic_fetch_add_explicit(&trc_rec.shared->modules_full, 1, memory_order_relaxed);
}

/* Where the slot's last module had its path, if there is room. */
static __attribute__((noinline)) void path_put(struct trc_module_slot *slot, const char *path)
{
	struct trc_shared *shared = trc_rec.shared;
	char room[PATH_BYTES_MAX];
	const char *text = path_absolute(path, room);
	uint64_t n_bytes = strnlen(text, PATH_BYTES_MAX - 1);
	uint64_t room_bytes = (n_bytes + PATH_UNIT) / PATH_UNIT * PATH_UNIT;
	char *heap = trc_area(shared, shared->heap_off);

	if (slot->path_room <= n_bytes) {
		/* The first byte of the heap stays zero: offset 0 is "none". */
		slot->path_off = 1 + atomic_fetch_add_explicit(&shared->heap_used, room_bytes,
							       memory_order_relaxed);
		slot->path_room = room_bytes;
		if (slot->path_off + room_bytes > shared->heap_bytes ||
		    !trc_is_grown(shared, heap + slot->path_off, room_bytes)) {
			slot->path_off = slot->path_room = 0;
			count_full(slot->start);
			return;
		}
	}
	memcpy(heap + slot->path_off, text, n_bytes);
	heap[slot->path_off + n_bytes] = '\0';
}

static struct trc_module_slot *module_slots(void)
{
	return trc_area(trc_rec.shared, trc_rec.shared->modules_off);
}

static uint32_t slots_used(void)
{
	uint32_t n = atomic_load_explicit(&trc_rec.shared->n_modules_used, memory_order_relaxed);

	return n < trc_rec.shared->n_modules ? n : trc_rec.shared->n_modules;
}

/* Takes the slot if nothing cites its module any more (layout:X2). */
static bool take_again(struct trc_module_slot *slot, uint64_t now)
{
	/* acquire: what is read below is that module's, or a later one's, whose state is another. */
	uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);

	/* acquire: pairs with close_slot(): closed_in is of this closing, or a later one. */
	if (TRC_MODULE_STATE(state) != TRC_MODULE_READY ||
	    atomic_load_explicit(&slot->last_epoch, memory_order_acquire) == UINT32_MAX ||
	    atomic_load_explicit(&slot->closed_in, memory_order_relaxed) + 2 > now)
		return false;
	return atomic_compare_exchange_strong_explicit(
		&slot->state, &state,
		state - TRC_MODULE_READY + TRC_MODULE_STATES + TRC_MODULE_FILLING,
		memory_order_acquire, memory_order_relaxed);
}

/* One that is the caller's to fill in; NULL = there is none. */
static struct trc_module_slot *module_slot_take(void)
{
	struct trc_shared *shared = trc_rec.shared;
	uint32_t n = atomic_load_explicit(&shared->n_modules_used, memory_order_relaxed);
	/* acquire: what was counted up has been read (layout:T3). */
	uint64_t now = atomic_load_explicit(&shared->table_epoch, memory_order_acquire);

	while (n < shared->n_modules &&
	       trc_is_grown(shared, &module_slots()[n], sizeof(struct trc_module_slot)))
		if (atomic_compare_exchange_weak_explicit(&shared->n_modules_used, &n, n + 1,
							  memory_order_relaxed,
							  memory_order_relaxed)) {
			atomic_store_explicit(&module_slots()[n].state, TRC_MODULE_FILLING,
					      memory_order_relaxed);
			return &module_slots()[n];
		}
	if (n < shared->n_modules || /* there is no memory for more */
	    atomic_load_explicit(&shared->flags, memory_order_relaxed) & TRC_SHARED_KEEP_MODULES)
		return NULL;
	for (uint32_t i = 0; i < shared->n_modules; i++)
		if (take_again(&module_slots()[i], now))
			return &module_slots()[i];
	return NULL;
}

static void module_slot_add(const struct trc_module_entry *m, uint32_t epoch)
{
	struct trc_module_slot *slot = module_slot_take();

	if (!slot) {
		count_full(m->start);
		return;
	}
	/* release fence: state says that it is being changed before it is (layout:X1). */
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&slot->first_epoch, epoch, memory_order_relaxed);
	atomic_store_explicit(&slot->last_epoch, UINT32_MAX, memory_order_relaxed);
	atomic_store_explicit(&slot->checked_epoch, epoch, memory_order_relaxed);
	memcpy(slot->build_id, m->build_id, sizeof(slot->build_id));
	slot->build_id_bytes = m->build_id_bytes;
	atomic_store_explicit(&slot->start, m->start, memory_order_relaxed);
	atomic_store_explicit(&slot->limit, m->limit, memory_order_relaxed);
	slot->file_offset = m->file_offset;
	slot->load_bias = m->load_bias;
	path_put(slot, m->path);
	/* release: pairs with the acquire of readers and of slot_covers(). */
	atomic_fetch_add_explicit(&slot->state, TRC_MODULE_READY - TRC_MODULE_FILLING,
				  memory_order_release);
}

/* The object at `address` now; false if there is none, or it cannot be told. */
static bool object_at_address(uint64_t address, struct trc_module_entry *m)
{
	struct found_object found;
	const ElfW(Ehdr) * header;

	if (module_describe(m, program.bias, program.phdr, program.n_phdrs, "", address))
		return true;
	if (!find_object || find_object((void *)(uintptr_t)address, &found))
		return false;
	header = found.map_start;
	/* While another thread closes the object the loader may still tell of what is unmapped. */
	if (!trc_memory_readable((uintptr_t)header) || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr)) > 4096)
		return false;
	return module_describe(m, found.link_map->l_addr,
			       (const ElfW(Phdr) *)((const char *)header + header->e_phoff),
			       header->e_phnum, found.link_map->l_name, address);
}

/* Its module has gone, after that epoch.  Where another thread has closed it that stands; one that
 * comes so late that the slot is another module's makes that look gone, and be entered again. */
static void close_slot(struct trc_module_slot *slot, uint32_t last_epoch)
{
	uint64_t now = atomic_load_explicit(&trc_rec.shared->table_epoch, memory_order_relaxed);
	uint32_t open = UINT32_MAX;

	atomic_store_explicit(&slot->closed_in, now, memory_order_relaxed);
	/* release: closed_in comes first. */
	atomic_compare_exchange_strong_explicit(&slot->last_epoch, &open, last_epoch,
						memory_order_release, memory_order_relaxed);
}

static bool object_is_still_there(const struct trc_module_slot *copy, uint64_t address)
{
	struct trc_module_entry now;

	return object_at_address(address, &now) && same_module(copy, &now);
}

/* True if an entry explains `address` in this epoch; closes the one whose object has gone (M2). */
static bool slot_covers(struct trc_module_slot *slot, uint64_t address, uint32_t epoch)
{
	struct trc_module_slot copy;

	if (address < atomic_load_explicit(&slot->start, memory_order_relaxed) ||
	    address >= atomic_load_explicit(&slot->limit, memory_order_relaxed) ||
	    !trc_module_copy(slot, &copy) || address < copy.start || address >= copy.limit ||
	    copy.last_epoch < epoch)
		return false;
	if (copy.last_epoch != UINT32_MAX) /* the caller is behind: M1 */
		return copy.first_epoch <= epoch;
	if (copy.checked_epoch >= epoch)
		return true;
	if (find_object && !object_is_still_there(&copy, address)) {
		close_slot(slot, epoch - 1);
		return false;
	}
	atomic_store_explicit(&slot->checked_epoch, epoch, memory_order_relaxed);
	return true;
}

static bool module_is_known(uint64_t address, uint32_t epoch)
{
	uint32_t n = slots_used();

	for (uint32_t i = 0; i < n; i++)
		if (slot_covers(&module_slots()[i], address, epoch))
			return true;
	return false;
}

static bool is_programs(uint64_t address)
{
	struct trc_module_entry segment;

	for (uint32_t i = 0; i < program.n_phdrs; i++)
		if (exec_segment_of(&segment, program.bias, &program.phdr[i]) &&
		    address >= segment.start && address < segment.limit)
			return true;
	return false;
}

/* Nothing lies where it was.  The objects themselves are not looked at: another thread may be
 * closing them.  Where another one has come to lie M2 tells. */
static bool slot_is_gone(const struct trc_module_slot *copy)
{
	struct found_object found;

	if (is_programs(copy->start))
		return false;
	return find_object((void *)(uintptr_t)copy->start, &found) != 0;
}

/* Closes all that have gone by now, as seen in epochs up to this one: M3. */
static void close_gone(uint32_t epoch)
{
	uint32_t n = find_object ? slots_used() : 0;

	for (uint32_t i = 0; i < n; i++) {
		struct trc_module_slot copy;

		if (trc_module_copy(&module_slots()[i], &copy) && copy.last_epoch == UINT32_MAX &&
		    slot_is_gone(&copy))
			close_slot(&module_slots()[i], epoch);
	}
}

static bool slots_are_current(uint32_t epoch)
{
	return epoch == atomic_load_explicit(&trc_rec.shared->module_epoch, memory_order_relaxed);
}

void trc_modules_note(const uint64_t *frame, uint32_t n, uint32_t epoch)
{
	for (uint32_t i = 0; i < n; i++) {
		/* All are return addresses: one may lie just behind the last function. */
		uint64_t address = frame[i] - 1;
		struct trc_module_entry m;

		/* What lies there now may be another than in an epoch that is over. */
		if (!module_is_known(address, epoch) && object_at_address(address, &m) &&
		    slots_are_current(epoch))
			module_slot_add(&m, epoch);
	}
}

static const char *kept_path(const char *path)
{
	char room[PATH_BYTES_MAX], *kept = known_paths + known_path_bytes;
	const char *whole = path_absolute(path, room);
	size_t n_bytes = strnlen(whole, PATH_BYTES_MAX - 1) + 1;

	if (whole == path || known_path_bytes + n_bytes > sizeof(known_paths))
		return path;
	memcpy(kept, whole, n_bytes);
	known_path_bytes += n_bytes;
	return kept;
}

static int scan_one(struct dl_phdr_info *info, size_t n_bytes, void *context)
{
	struct trc_module_entry m;

	describe_object(&m, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, info->dlpi_name);
	for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
		if (n_known == KNOWN_MAX ||
		    !exec_segment_of(&m, info->dlpi_addr, &info->dlpi_phdr[i]))
			continue;
		m.path = kept_path(m.path); /* is whole then, or cannot be made so */
		known[n_known++] = m;
	}
	return 0;
}

/* The first object is the program. */
static int program_slot_find(struct dl_phdr_info *info, size_t n_bytes, void *context)
{
	program.bias = info->dlpi_addr;
	program.phdr = info->dlpi_phdr;
	program.n_phdrs = info->dlpi_phnum;
	return 1;
}

static void find_exe(void)
{
	ssize_t n = readlink("/proc/self/exe", exe_path, sizeof(exe_path) - 1);

	exe_path[n > 0 ? n : 0] = '\0';
}

void trc_modules_scan(void)
{
	find_exe();
	find_object = (find_object_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, "_dl_find_object");
	n_known = 0;
	known_path_bytes = 0;
	dl_iterate_phdr(program_slot_find, NULL);
	dl_iterate_phdr(scan_one, NULL);
}

void trc_modules_publish(void)
{
	uint32_t epoch = atomic_load_explicit(&trc_rec.shared->module_epoch, memory_order_relaxed);

	for (uint32_t i = 0; i < n_known; i++)
		module_slot_add(&known[i], epoch);
}

/* ---- for whoever wants them all ---------------------------------------------------------- */

struct visit {
	trc_module_fn *fn;
	void *context;
};

static int visit_one(struct dl_phdr_info *info, size_t n_bytes, void *context)
{
	const struct visit *visit = context;
	struct trc_module_entry m;
	char room[PATH_BYTES_MAX];

	describe_object(&m, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, info->dlpi_name);
	m.path = path_absolute(m.path, room);
	m.last_epoch = UINT32_MAX;
	for (uint32_t i = 0; i < info->dlpi_phnum; i++)
		if (exec_segment_of(&m, info->dlpi_addr, &info->dlpi_phdr[i]))
			visit->fn(visit->context, &m);
	return 0;
}

void trc_modules_loaded(trc_module_fn *fn, void *context)
{
	struct visit visit = {fn, context};

	if (!*exe_path)
		find_exe();
	dl_iterate_phdr(visit_one, &visit);
}

void trc_modules_recorded(trc_module_fn *fn, void *context)
{
	const struct trc_shared *shared = trc_rec.shared;
	uint32_t n = slots_used();

	for (uint32_t i = 0; i < n; i++) {
		struct trc_module_entry m = {.path = NULL};
		struct trc_module_slot slot;

		if (!trc_module_copy(&module_slots()[i], &slot))
			continue;
		m.start = slot.start;
		m.limit = slot.limit;
		m.file_offset = slot.file_offset;
		m.load_bias = slot.load_bias;
		m.first_epoch = slot.first_epoch;
		m.last_epoch = slot.last_epoch;
		memcpy(m.build_id, slot.build_id, sizeof(m.build_id));
		m.build_id_bytes = (uint8_t)slot.build_id_bytes;
		if (slot.path_off)
			m.path = (char *)trc_area(trc_rec.shared, shared->heap_off) + slot.path_off;
		fn(context, &m);
	}
}

/* ---- epochs ------------------------------------------------------------------------------ */

/* Its number. */
static uint32_t next_epoch(void)
{
	struct trc_shared *shared = trc_rec.shared;
	uint64_t now = trc_now();
	uint32_t epoch =
		1 + atomic_fetch_add_explicit(&shared->module_epoch, 1, memory_order_relaxed);
	struct trc_epoch_slot *slot =
		(struct trc_epoch_slot *)trc_area(shared, shared->epochs_off) +
		epoch % shared->n_epochs;

	if (!trc_is_grown(shared, slot, sizeof(*slot)))
		return epoch;
	atomic_store_explicit(&slot->ticks, now, memory_order_relaxed);
	/* release: its time is there. */
	atomic_store_explicit(&slot->epoch, epoch, memory_order_release);
	return epoch;
}

void trc_modules_changing(void)
{
	trc_closing_begin();
	if (trc_recording()) {
		trc_otel_forget();
		next_epoch();
	}
}

void trc_modules_changed(void)
{
	if (trc_recording()) {
		close_gone(next_epoch() - 1);
		trc_otel_forget(); /* another thread may have searched meanwhile */
	}
	trc_unwind_modules_changed();
	trc_closing_end();
}
