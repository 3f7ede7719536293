/*
 * operators.cc - a library with operators new and delete of its own, as an allocator for C++ has
 * them: an object is made by several calls of malloc(), the first of which is its own.  With ARRAYS
 * there are just those for arrays, which take what they give from no malloc().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#define EXPORT __attribute__((visibility("default")))

#ifdef ARRAYS

alignas(16) static char arena[64 << 20];
static std::atomic<std::size_t> used;

EXPORT void *operator new[](std::size_t n)
{
	std::size_t at = used.fetch_add((n + 15) & ~std::size_t(15));

	if (n > sizeof(arena) || at > sizeof(arena) - n)
		throw std::bad_alloc();
	return arena + at;
}

EXPORT void operator delete[](void *) noexcept
{
}

EXPORT void operator delete[](void *, std::size_t) noexcept
{
}

#else

struct note {
	void *object;
	void *more;
	note *next;
};
/* Of what lives; a spin lock guards it. */
static note *notes[4096];
static std::atomic_flag lock = ATOMIC_FLAG_INIT;

static note **place(void *object)
{
	return &notes[reinterpret_cast<std::size_t>(object) / 16 % 4096];
}

EXPORT void *operator new(std::size_t n)
{
	for (;;) {
		void *object = std::malloc(n);
		std::new_handler handler = std::get_new_handler();

		if (object) {
			note *made = static_cast<note *>(std::malloc(sizeof(note)));

			*made = {object, std::malloc(40), nullptr};
			while (lock.test_and_set())
				;
			made->next = *place(object);
			*place(object) = made;
			lock.clear();
			return object;
		}
		if (!handler)
			throw std::bad_alloc();
		handler();
	}
}

EXPORT void operator delete(void *object) noexcept
{
	note **at = place(object), *found;

	while (lock.test_and_set())
		;
	while (*at && (*at)->object != object)
		at = &(*at)->next;
	found = *at;
	if (found)
		*at = found->next;
	lock.clear();
	if (found)
		std::free(found->more);
	std::free(found);
	std::free(object);
}

EXPORT void operator delete(void *object, std::size_t) noexcept
{
	operator delete(object);
}

#endif
