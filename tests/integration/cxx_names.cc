/*
 * cxx_names.cc - C++ functions that have no linker's name, or only an unreadable one: lambdas, members
 * of local classes and of templates, locks that are static members of a namespace.
 *
 * Each keeps account of the CPU time that it took.  Output: a line each, "cpu", the function's name as
 * its compiler's own tools have it, milliseconds; "waited", a lock, and for how many milliseconds threads waited for it.
 * Last, "lock" and the name of the mutex that was fought for most, and "holder" and the function that kept it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <future>
#include <thread>
#include <vector>

#ifdef __clang__
#define IN_MAIN(lambda, number) "main::$_" #number
#define SECOND			"{lambda(int)#1}" /* the first with these parameters */
#define NTH(of_all, of_like)	""
#else
#define IN_MAIN(lambda, number) "main::" lambda
#if __GNUC__ >= 13 /* lambdas are numbered by their parameters */
#define NTH(of_all, of_like) #of_like
#else
#define NTH(of_all, of_like) #of_all
#endif
#define SECOND "{lambda(int)#" NTH(2, 1) "}"
#endif

static double cpu_ms()
{
	timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static volatile unsigned int sink;

/* Burns so much of the calling function's CPU time. */
static inline __attribute__((always_inline)) double burn(double ms)
{
	double begin = cpu_ms();

	while (cpu_ms() - begin < ms)
		for (unsigned int i = 0; i < 10000; i++)
			sink += i;
	return cpu_ms() - begin;
}

static void account(const char *name, double ms)
{
	printf("cpu\t%s\t%.1f\n", name, ms);
}

namespace settings {
static std::mutex lock;
static int value;

__attribute__((noinline)) static void reload()
{
	std::lock_guard<std::mutex> held(lock);

	burn(20);
	value++;
}

__attribute__((noinline)) static int get()
{
	std::lock_guard<std::mutex> held(lock);

	return value;
}
} // namespace settings

/* Locks that are static variables of this file, and of a function. */
static std::mutex db;

static std::mutex &cache_lock()
{
	static std::mutex lock;

	return lock;
}

static double now_ms()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* How long two threads wait for the lock, by their own clock. */
static double fight_for(std::mutex &lock)
{
	double waited_ms[2] = {0, 0};
	auto fight = [&lock](double *ms) {
		for (int i = 0; i < 20; i++) {
			double from_ms = now_ms();
			std::lock_guard<std::mutex> held(lock);

			*ms += now_ms() - from_ms;
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		}
	};
	std::thread one(fight, &waited_ms[0]), other(fight, &waited_ms[1]);

	one.join();
	other.join();
	return waited_ms[0] + waited_ms[1];
}

struct Worker {
	void run()
	{
		auto first = [] { return burn(60); };
		auto second = [](int times) { return burn(40 * times); };

		account("Worker::run::{lambda()#1}::operator()", first());
		account("Worker::run::" SECOND "::operator()", second(2));
	}
};

template <class T> struct Box {
	T value;

	void spin()
	{
		auto work = [this] {
			value++;
			return burn(50);
		};

		account("Box<int>::spin::{lambda()#1}::operator()", work());
	}
};

#ifndef __clang__ /* which gives all of these linkage names */
/* A function for each lambda that it is called with. */
template <class F> static inline __attribute__((always_inline)) double call_with(F work)
{
	double begin = cpu_ms();

	burn(30);
	work();
	return cpu_ms() - begin;
}

/* Lambdas for any type count as others do, also where nobody calls them. */
static void generic_lambdas()
{
	auto never = [](auto value) { burn(value); };
	auto any = [](auto &&ms, int times) { return burn(ms * times); };
	auto plain = [] { return burn(45); };

	(void)never;
	account("generic_lambdas::{lambda(auto:1&&, int)#" NTH(2, 1) "}::operator()<int>", any(25, 2));
	account("generic_lambdas::{lambda()#" NTH(3, 1) "}::operator()", plain());
	account("call_with<generic_lambdas::{lambda()#" NTH(4, 2) "}>", call_with([] { burn(35); }));
	account("call_with<generic_lambdas::{lambda()#" NTH(5, 3) "}>", call_with([] { burn(55); }));
}
#endif

int main()
{
	std::vector<std::thread> threads;
	std::vector<int> numbers(2);
	double sorting = 0;

	threads.emplace_back([] {
		for (int i = 0; i < 10; i++) {
			settings::reload();
			std::this_thread::sleep_for(std::chrono::milliseconds(2));
		}
	});
	threads.emplace_back([] {
		for (int i = 0; i < 200; i++) {
			settings::get();
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		}
	});
	threads.emplace_back([] {
		struct Local {
			static double go()
			{
				return burn(70);
			}
		};

		account(IN_MAIN("{lambda()#3}", 2) "::operator()::Local::go", Local::go());
	});
	threads.emplace_back([] { account(IN_MAIN("{lambda()#4}", 3) "::operator()", burn(90)); });
	for (auto &thread : threads)
		thread.join();
	Worker().run();
	Box<int>{0}.spin();
#ifndef __clang__
	generic_lambdas();
#endif
	std::sort(numbers.begin(), numbers.end(), [&sorting](int a, int b) {
		sorting += burn(40);
		return a < b;
	});
	account(IN_MAIN("{lambda(int, int)#" NTH(5, 1) "}", 4) "::operator()", sorting);
	/* Waits through pthread_once(), in which libc and trc call the library again. */
	std::async(std::launch::async, [] {
		std::this_thread::sleep_for(std::chrono::milliseconds(20));
	}).get();
	printf("waited\tdb\t%.3f\n", fight_for(db));
	printf("waited\tcache_lock::lock\t%.3f\n", fight_for(cache_lock()));
	printf("lock\tsettings::lock\nholder\tsettings::reload\n");
	return 0;
}
