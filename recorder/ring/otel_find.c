/*
 * otel_find.c - which loaded object has the thread-local variable `otel_thread_ctx_v1`, and where
 * each thread has it; see otel.h.
 *
 * The loader's list of objects (struct link_map) has public members, and private members which say
 * where an object's thread-local variables are.  trc_otel_setup() finds the place of the private
 * members by what dl_iterate_phdr() says of the objects that are there.  If they are not found, or
 * the C library is not glibc, no variable is ever found.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include "otel.h"
#include "recorder/shared/clock.h"
#include "recorder/unwind/memory.h"
#include "recorder/unwind/poison.h"

static const char variable_name[] = "otel_thread_ctx_v1";

enum {
	LINK_MAP_BYTES = 1280, /* more than any glibc's is known to have */
	LINK_MAP_WORDS = LINK_MAP_BYTES / 8,
	OBJECTS_MAX = 4096,
	DYNAMIC_MAX = 128, /* entries of an object's dynamic section */
	CHAIN_MAX = 1024,  /* symbols of one hash bucket */
};

static const struct r_debug *loader; /* NULL = nothing can be found */
static size_t tls_off;		     /* in struct link_map, of struct tls_members */
static bool wanted;
static bool was_there; /* stored by whoever searches */
/* Ticks since when a thread has searched; 0 = none does.  A thread that left its search by a longjmp()
 * out of a signal handler leaves this behind: another one takes over when it has lasted for long. */
static _Atomic uint64_t searching;
/* How often something was to be forgotten: the words with which trc_otel_forget() does that differ. */
static _Atomic uint32_t n_forgotten;
/* The last object of the list when a search found nothing; NULL = search them all. */
static _Atomic(const struct link_map *) searched_up_to;

/* Neighbours in glibc's struct link_map. */
struct tls_members {
	uint64_t offset, module; /* module 0: the object has no thread-local variables */
};

static bool memory_read(void *to, const void *from, size_t n_bytes)
{
	return trc_memory_copy(to, (uintptr_t)from, (uint32_t)n_bytes);
}

/* ---- the private members --------------------------------------------------------------- */

/* Words of struct link_map that may be the one that is looked for. */
struct candidates {
	bool is_one[LINK_MAP_WORDS];
	size_t n_seen, n_with_tls;
};

static const struct link_map *link_map_of(const struct dl_phdr_info *info)
{
	const struct link_map *map = loader->r_map;

	/* The loader's lock is held: nothing changes. */
	while (map && (map->l_addr != info->dlpi_addr || strcmp(map->l_name, info->dlpi_name)))
		map = map->l_next;
	return map;
}

/* How far the object's block is from the thread pointer, as the loader counts. */
static uint64_t distance(const void *block)
{
	uint64_t tp = (uintptr_t)__builtin_thread_pointer(), at = (uintptr_t)block;

#if defined(__x86_64__)
	return tp - at;
#else
	return at - tp;
#endif
}

static int compare_one(struct dl_phdr_info *info, size_t n_bytes, void *context)
{
	struct candidates *c = context;
	const struct link_map *map = link_map_of(info);
	uint64_t word[LINK_MAP_WORDS];

	if (!map || n_bytes < offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof(void *) ||
	    !memory_read(word, map, sizeof(word)))
		return 0;
	c->n_seen++;
	c->n_with_tls += info->dlpi_tls_modid != 0;
	for (size_t i = 1; i < LINK_MAP_WORDS; i++) {
		c->is_one[i] &= word[i] == info->dlpi_tls_modid;
		/* In front of the number is the distance.  That of the C library, and of all that
		 * were loaded with the program, is the same in all threads. */
		if (info->dlpi_tls_modid && info->dlpi_tls_data && word[i - 1] + 2 > 2)
			c->is_one[i] &= word[i - 1] == distance(info->dlpi_tls_data);
	}
	return 0;
}

void trc_otel_setup(void)
{
	struct candidates c = {.n_seen = 0};
	size_t n = 0;

	if (loader)
		return;
	loader = dlsym(RTLD_DEFAULT, "_r_debug");
	if (!loader)
		return;
	memset(c.is_one, true, sizeof(c.is_one));
	dl_iterate_phdr(compare_one, &c);
	for (size_t i = sizeof(struct link_map) / 8 + 1; i < LINK_MAP_WORDS; i++) {
		if (!c.is_one[i])
			continue;
		tls_off = (i - 1) * 8;
		n++;
	}
	if (n != 1 || c.n_with_tls < 2) /* several fit, or none */
		loader = NULL;
}

/* ---- an object's symbol ---------------------------------------------------------------- */

struct object {
	uint64_t bias, symbols, strings, hash;
	bool unreadable; /* something of it could not be copied: it may be on its way out */
};

static bool object_copy(struct object *o, void *to, uint64_t from, size_t n_bytes)
{
	bool copied = memory_read(to, (const void *)(uintptr_t)from, n_bytes);

	o->unreadable |= !copied;
	return copied;
}

/* The loader has made some addresses absolute, and not others. */
static uint64_t absolute(const struct object *o, uint64_t address)
{
	return address < o->bias ? o->bias + address : address;
}

static bool object_read(struct object *o, const struct link_map *map)
{
	ElfW(Dyn) entry;

	*o = (struct object){.bias = map->l_addr};
	for (size_t i = 0; i < DYNAMIC_MAX; i++) {
		if (!object_copy(o, &entry, (uintptr_t)(map->l_ld + i), sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_SYMTAB)
			o->symbols = absolute(o, entry.d_un.d_ptr);
		else if (entry.d_tag == DT_STRTAB)
			o->strings = absolute(o, entry.d_un.d_ptr);
		else if (entry.d_tag == DT_GNU_HASH)
			o->hash = absolute(o, entry.d_un.d_ptr);
	}
	return o->symbols && o->strings && o->hash;
}

static uint32_t variable_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

/* Symbol number i is the variable, defined there; *value is its place in the object's block. */
static bool is_variable(struct object *o, uint32_t i, uint64_t *value)
{
	ElfW(Sym) symbol;
	char name[sizeof(variable_name)];
	uint64_t at = o->symbols + (uint64_t)i * sizeof(symbol);

	if (!object_copy(o, &symbol, at, sizeof(symbol)) ||
	    ELF64_ST_TYPE(symbol.st_info) != STT_TLS || symbol.st_shndx == SHN_UNDEF ||
	    !object_copy(o, name, o->strings + symbol.st_name, sizeof(name)) ||
	    memcmp(name, variable_name, sizeof(name)) != 0)
		return false;
	*value = symbol.st_value;
	return true;
}

static bool context_variable_find(struct object *o, uint64_t *value)
{
	uint32_t head[4], i, chained, hash = variable_hash(variable_name);
	uint64_t buckets;

	if (!object_copy(o, head, o->hash, sizeof(head)) || !head[0])
		return false;
	buckets = o->hash + sizeof(head) + (uint64_t)head[2] * sizeof(ElfW(Addr));
	if (!object_copy(o, &i, buckets + hash % head[0] * 4, sizeof(i)) || i < head[1])
		return false;
	for (uint32_t n = 0; n < CHAIN_MAX; n++, i++) {
		if (!object_copy(o, &chained, buckets + 4 * ((uint64_t)head[0] + i - head[1]),
				 sizeof(chained)))
			return false;
		if ((chained | 1) == (hash | 1) && is_variable(o, i, value))
			return true;
		if (chained & 1)
			return false;
	}
	return false;
}

/* ---- the search ------------------------------------------------------------------------ */

/* As trc_switch.otel. */
static uint64_t where_is(const struct tls_members *tls, uint64_t value)
{
	int64_t from_pointer;

	/* 0, -1 and -2: the block lies elsewhere in each thread. */
	if (tls->offset + 2 <= 2) {
		if (tls->module >> 30 || value >> 32)
			return 0;
		return tls->module << TRC_OTEL_MODULE_SHIFT | value << TRC_OTEL_KIND_BITS |
		       TRC_OTEL_DYNAMIC;
	}
#if defined(__x86_64__)
	from_pointer = (int64_t)(value - tls->offset);
#else
	from_pointer = (int64_t)(value + tls->offset);
#endif
	return (uint64_t)from_pointer << TRC_OTEL_KIND_BITS | TRC_OTEL_STATIC;
}

enum result { NOT_THERE, THERE, UNREADABLE };

static enum result search_object(const struct link_map *map, const struct link_map *at,
				 uint64_t *where)
{
	struct object o = {.unreadable = false};
	struct tls_members tls;
	uint64_t value;

	if (!memory_read(&tls, (const char *)at + tls_off, sizeof(tls)))
		return UNREADABLE;
	if (!tls.module)
		return NOT_THERE;
	*where = object_read(&o, map) && context_variable_find(&o, &value) ? where_is(&tls, value)
									   : 0;
	return *where ? THERE : o.unreadable ? UNREADABLE : NOT_THERE;
}

/* Nothing was loaded since the last search. */
static bool is_searched(void)
{
	const struct link_map *last = atomic_load_explicit(&searched_up_to, memory_order_relaxed);
	struct link_map map, before;

	/* One that is not in the list any more: a dlopen() that failed takes out what it had put in. */
	return last && memory_read(&map, last, sizeof(map)) && !map.l_next &&
	       (!map.l_prev ||
		(memory_read(&before, map.l_prev, sizeof(before)) && before.l_next == last));
}

/* What cannot be read may be the object that has the variable: then nothing is known. */
static enum result search_all(uint64_t *where)
{
	const struct link_map *at = loader->r_map;
	enum result result = NOT_THERE, of_object;
	struct link_map map;

	for (size_t n = 0; at && n < OBJECTS_MAX; n++, at = map.l_next) {
		if (!memory_read(&map, at, sizeof(map)))
			return UNREADABLE;
		of_object = search_object(&map, at, where);
		if (of_object == THERE)
			return THERE;
		if (of_object == UNREADABLE)
			result = UNREADABLE;
		if (result == NOT_THERE && !map.l_next)
			atomic_store_explicit(&searched_up_to, at, memory_order_relaxed);
	}
	return result;
}

/* False: another thread searches. */
static bool search_module(uint64_t now)
{
	uint64_t since = atomic_load_explicit(&searching, memory_order_relaxed);

	if (since && (int64_t)(now - since) < (int64_t)trc_clock_ns_to_ticks(TRC_OTEL_SEARCH_NS))
		return false;
	/* acquire: pairs with the release in search_end(): one search at a time, in one order. */
	return atomic_compare_exchange_strong_explicit(&searching, &since, now,
						       memory_order_acquire, memory_order_relaxed);
}

/* Unless the search took so long that another thread has taken over. */
static void search_end(uint64_t now)
{
	atomic_compare_exchange_strong_explicit(&searching, &now, 0, memory_order_release,
						memory_order_relaxed);
}

/* otel:C5.  `was` is what was known when the search began, `due` when the next one was to be. */
static void variable_publish(uint64_t where, uint64_t was, uint64_t due)
{
	/* release: pairs with the acquire in trc_otel_search(). */
	if (!atomic_compare_exchange_strong_explicit(&trc_switch.otel, &was, where,
						     memory_order_release, memory_order_relaxed)) {
		atomic_store_explicit(&searched_up_to, NULL, memory_order_relaxed);
		atomic_store_explicit(&trc_switch.otel_search, 0, memory_order_relaxed);
		return;
	}
	/* A dynamic block may turn out to be a static one when its object is all loaded.  Compared:
	 * that may just have been forgotten. */
	if (TRC_OTEL_KIND(where) == TRC_OTEL_STATIC)
		atomic_compare_exchange_strong_explicit(&trc_switch.otel_search, &due, UINT64_MAX,
							memory_order_relaxed, memory_order_relaxed);
}

void trc_otel_search(uint64_t now)
{
	uint64_t due = now + trc_clock_ns_to_ticks(TRC_OTEL_SEARCH_NS), was, where = 0;
	enum result result = NOT_THERE;

	if (!search_module(now))
		return;
	/* acquire: what is read below is no older. */
	was = atomic_load_explicit(&trc_switch.otel, memory_order_acquire);
	atomic_store_explicit(&trc_switch.otel_search, due, memory_order_relaxed);
	if (!is_searched())
		result = search_all(&where);
	was_there |= result == THERE;
	if (result == NOT_THERE)
		where = was_there ? TRC_OTEL_GONE : 0;
	if (atomic_load_explicit(&searching, memory_order_relaxed) != now)
		atomic_store_explicit(&searched_up_to, NULL, memory_order_relaxed);
	else if (result != UNREADABLE)
		variable_publish(where, was, due);
	search_end(now);
}

void trc_otel_begin(bool on)
{
	wanted = on && loader;
	was_there = false;
	atomic_store_explicit(&searching, 0, memory_order_relaxed); /* of a parent's thread */
	atomic_store_explicit(&trc_switch.otel, 0, memory_order_relaxed);
	atomic_store_explicit(&trc_switch.otel_search, UINT64_MAX, memory_order_relaxed);
	trc_otel_forget();
	if (wanted)
		trc_otel_search(trc_clock_now());
}

void trc_otel_forget(void)
{
	uint64_t n = atomic_fetch_add_explicit(&n_forgotten, 1, memory_order_relaxed) + 1;

	if (!wanted)
		return;
	/* release: pairs with the acquire in trc_otel_search(). */
	atomic_store_explicit(&trc_switch.otel, n << TRC_OTEL_KIND_BITS | TRC_OTEL_GONE,
			      memory_order_release);
	atomic_store_explicit(&searched_up_to, NULL, memory_order_relaxed);
	atomic_store_explicit(&trc_switch.otel_search, 0, memory_order_relaxed);
}
