/*
 * truth_new.cc - truth_heap.c's likeness in C++: truth_new ROUNDS [no-throw].
 *
 * Each way of new has sizes of its own by which it is found, and its own way of delete.  One object
 * in eight stays, half of the others end at once, the rest in another thread.  A child that is
 * forked in the middle gives back what it finds; that is not its parent's.  Output: bytes, allocated,
 * live.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr int threads = 3;
constexpr auto aligned = std::align_val_t(64);

struct way {
	std::size_t bytes;
	void *(*make)(std::size_t n);
	void (*end)(void *object, std::size_t n);
	std::atomic<unsigned long> allocated, released;
};

void *plain(std::size_t n)
{
	return ::operator new(n);
}
void *array(std::size_t n)
{
	return ::operator new[](n);
}

/* What is aligned has sizes that are multiples of it: the C++ library makes them so. */
way ways[] = {
	{1013, plain, [](void *o, std::size_t) { ::operator delete(o); }, {}, {}},
	{1217, plain, [](void *o, std::size_t n) { ::operator delete(o, n); }, {}, {}},
	{1319, [](std::size_t n) { return ::operator new(n, std::nothrow); },
	 [](void *o, std::size_t) { ::operator delete(o, std::nothrow); }, {}, {}},
	{1423, array, [](void *o, std::size_t) { ::operator delete[](o); }, {}, {}},
	{1523, array, [](void *o, std::size_t n) { ::operator delete[](o, n); }, {}, {}},
	{1627, [](std::size_t n) { return ::operator new[](n, std::nothrow); },
	 [](void *o, std::size_t) { ::operator delete[](o, std::nothrow); }, {}, {}},
	{31 * 64, [](std::size_t n) { return ::operator new(n, aligned); },
	 [](void *o, std::size_t) { ::operator delete(o, aligned); }, {}, {}},
	{33 * 64, [](std::size_t n) { return ::operator new(n, aligned); },
	 [](void *o, std::size_t n) { ::operator delete(o, n, aligned); }, {}, {}},
	{35 * 64, [](std::size_t n) { return ::operator new(n, aligned, std::nothrow); },
	 [](void *o, std::size_t) { ::operator delete(o, aligned, std::nothrow); }, {}, {}},
	{37 * 64, [](std::size_t n) { return ::operator new[](n, aligned); },
	 [](void *o, std::size_t) { ::operator delete[](o, aligned); }, {}, {}},
	{39 * 64, [](std::size_t n) { return ::operator new[](n, aligned); },
	 [](void *o, std::size_t n) { ::operator delete[](o, n, aligned); }, {}, {}},
	{41 * 64, [](std::size_t n) { return ::operator new[](n, aligned, std::nothrow); },
	 [](void *o, std::size_t) { ::operator delete[](o, aligned, std::nothrow); }, {}, {}},
	{60013, plain, [](void *o, std::size_t) { ::operator delete(o); }, {}, {}},
	{2203, [](std::size_t n) { return std::malloc(n); },
	 [](void *o, std::size_t) { std::free(o); }, {}, {}},
};

struct object {
	way *of;
	void *at;
};

object make(way &of)
{
	of.allocated++;
	return {&of, of.make(of.bytes)};
}

void release(const object &o)
{
	o.of->released++;
	o.of->end(o.at, o.of->bytes);
}

std::vector<object> handed_over[threads], stays[threads];

void work(int me, unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++)
		for (way &of : ways) {
			object o = make(of);

			if (i % 8 == 0)
				stays[me].push_back(o);
			else if (i % 8 < 5)
				release(o);
			else
				handed_over[me].push_back(o);
		}
}

/* It ends by _exit(), and says whether all went well. */
void child()
{
	pid_t pid = fork();
	int status = -1;

	if (!pid) {
		for (auto &list : handed_over)
			for (object &o : list)
				release(o);
		for (way &of : ways)
			release(make(of));
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		std::printf("the child ended with %d\n", status);
}

/* An allocator may not be able to throw. */
void too_much(bool throws)
{
	static int asked;
	volatile std::size_t n = std::size_t(1) << 62;

	std::set_new_handler([] {
		asked++;
		std::set_new_handler(nullptr);
	});
	try {
		::operator delete(throws ? ::operator new(n) : throw std::bad_alloc());
		std::puts("there was room");
	} catch (const std::bad_alloc &) {
		std::printf("bad_alloc, after %d questions\n", asked);
	}
	std::set_new_handler(nullptr);
	if (::operator new(n, std::nothrow))
		std::puts("there was room");
	::operator delete(nullptr);
	::operator delete[](nullptr, std::size_t(1));
}

} // namespace

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 16;
	std::vector<std::thread> running;

	for (int i = 0; i < threads; i++)
		running.emplace_back(work, i, rounds);
	for (std::thread &thread : running)
		thread.join();
	child();
	too_much(argc < 3 || std::string(argv[2]) != "no-throw");
	for (auto &list : handed_over)
		for (object &o : list)
			release(o);
	for (way &of : ways)
		std::printf("%zu\t%lu\t%lu\n", of.bytes, of.allocated.load(),
			    of.allocated.load() - of.released.load());
	return 0;
}
