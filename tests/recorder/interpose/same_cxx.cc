/*
 * same_cxx.cc - what a C++ runtime does with threads: exceptions, cancellation as an
 * exception, call_once that throws: plain and interposed alike.
 */
#include <condition_variable>
#include <cxxabi.h>
#include <cstdio>
#include <future>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <unistd.h>

static std::mutex mutex;
static sem_t never;

struct noisy {
	const char *what;
	~noisy()
	{
		std::lock_guard<std::mutex> guard(mutex);
		std::printf("leaves %s\n", what);
	}
};

static void *throws_and_catches(void *)
{
	try {
		noisy n{"a scope by an exception"};

		throw std::runtime_error("thrown in a thread");
	} catch (const std::exception &e) {
		std::puts(e.what());
	}
	return nullptr;
}

static void *cancelled(void *)
{
	noisy n{"a thread by cancellation"};

	try {
		sem_wait(&never);
	} catch (abi::__forced_unwind &) {
		std::puts("cancelled in sem_wait");
		throw;
	}
	return nullptr;
}

static void *exits(void *)
{
	noisy n{"a thread by pthread_exit"};

	pthread_exit(&never);
}

static std::once_flag once;
static int attempts;

static void initialise()
{
	if (++attempts < 3)
		throw std::runtime_error("not yet");
}

static void once_tests()
{
	for (int i = 0; i < 4; i++) {
		try {
			std::call_once(once, initialise);
			std::printf("initialised after %d attempts\n", attempts);
		} catch (const std::exception &e) {
			std::puts(e.what());
		}
	}
}

static void thrown_by_routine()
{
	throw 5;
}

static void pthread_once_test()
{
	static pthread_once_t control = PTHREAD_ONCE_INIT;

	for (int i = 0; i < 2; i++) {
		try {
			pthread_once(&control, thrown_by_routine);
			std::puts("odd");
		} catch (int n) {
			std::printf("pthread_once threw %d\n", n);
		}
	}
}

static void future_tests()
{
	auto ok = std::async(std::launch::async, [] { return 7; });
	auto bad = std::async(std::launch::async, []() -> int { throw std::logic_error("in async"); });

	std::printf("%d\n", ok.get());
	try {
		bad.get();
	} catch (const std::exception &e) {
		std::puts(e.what());
	}
}

static void lock_tests()
{
	std::timed_mutex timed;
	std::shared_timed_mutex shared;
	std::condition_variable_any any;
	std::recursive_mutex recursive;
	int stage = 0;

	timed.lock();
	std::thread t([&] {
		bool got = timed.try_lock_for(std::chrono::milliseconds(5));

		std::printf("try_lock_for %d\n", got);
		std::unique_lock<std::recursive_mutex> lock(recursive);
		stage = 1;
		any.notify_all();
	});
	{
		std::unique_lock<std::recursive_mutex> lock(recursive);
		any.wait(lock, [&] { return stage == 1; });
	}
	t.join();
	timed.unlock();
	shared.lock_shared();
	std::thread([&] {
		bool got = shared.try_lock_for(std::chrono::milliseconds(5));

		std::printf("shared try_lock_for %d\n", got);
	}).join();
	shared.unlock_shared();
	try {
		std::thread self;
		self.join();
	} catch (const std::system_error &e) {
		std::puts("join of nothing");
	}
}

static void run(void *(*start)(void *), bool cancel)
{
	pthread_t thread;
	void *value;

	pthread_create(&thread, nullptr, start, nullptr);
	if (cancel)
		pthread_cancel(thread);
	pthread_join(thread, &value);
	std::puts(value == PTHREAD_CANCELED ? "cancelled" : value ? "a value" : "nothing");
}

int main()
{
	sem_init(&never, 0, 0);
	run(throws_and_catches, false);
	run(cancelled, true);
	run(exits, false);
	once_tests();
	pthread_once_test();
	future_tests();
	lock_tests();
}
