/*
 * plugin_cxx.cc - C++ in a program that has none of its own (same_plugins.c): with the library's
 * operators, or with OWN_OPERATORS its own.
 */
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

static unsigned long n_own;

#ifdef OWN_OPERATORS
/* Not malloc()'s: what comes back has to be what was given. */
alignas(16) static char arena[1 << 20];
static std::size_t used;

void *operator new(std::size_t n)
{
	void *object = arena + used;

	n_own++;
	if (n > sizeof(arena) - used)
		throw std::bad_alloc();
	used += (n + 15) & ~std::size_t(15);
	return object;
}
void operator delete(void *object) noexcept
{
	n_own++;
	if (object && (object < arena || object >= arena + sizeof(arena)))
		std::abort();
}
void operator delete(void *object, std::size_t) noexcept
{
	operator delete(object);
}
#endif

extern "C" __attribute__((visibility("default"))) void plugin_run(const char *what)
{
	volatile std::size_t too_much = std::size_t(1) << 62;
	std::vector<std::string> words;

	/* Not std::to_string(): it has a symbol that keeps its object loaded. */
	for (int i = 0; i < 100; i++) {
		char number[12];

		std::snprintf(number, sizeof(number), "%d", i);
		words.push_back(std::string(what) + number +
				" as long as it takes to be allocated");
	}
	std::printf("%s: %zu words, the last is %s\n", what, words.size(), words.back().c_str());
	try {
		::operator delete(::operator new(too_much));
	} catch (const std::bad_alloc &) {
		std::puts("bad_alloc");
	}
	std::printf("operators of its own: %s\n", n_own ? "used" : "not used");
}

/* One object that stays until the other is called. */
static void *kept;

extern "C" __attribute__((visibility("default"))) void plugin_take()
{
	kept = ::operator new(1000);
}

extern "C" __attribute__((visibility("default"))) void plugin_give()
{
	::operator delete(kept);
}
