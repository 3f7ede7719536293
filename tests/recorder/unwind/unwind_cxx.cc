/*
 * unwind_cxx.cc - stacks in C++: in destructors while an exception passes, in catch blocks,
 * behind virtual calls and templates, and exceptions that still work.
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
extern "C" {
#include "own_stack.h"
#include "recorder/unwind/unwind.h"
#include "unwind_compare.h"
}

#define NOINLINE __attribute__((noinline))

static volatile uint32_t sink;

static NOINLINE void plain(const char *what)
{
	compare_here(what, 3);
	sink++;
}

struct guard {
	const char *what;
	~guard()
	{
		plain(what);
	}
};

struct shape {
	virtual ~shape() = default;
	virtual NOINLINE void draw(uint32_t depth)
	{
		guard on_exit = {"in a destructor"};

		if (depth)
			draw(depth - 1);
		else
			throw std::runtime_error("drawn");
	}
};

struct circle : shape {
	std::string name = "a name long enough to need memory of its own";

	NOINLINE void draw(uint32_t depth) override
	{
		guard on_exit = {"in a destructor of an override"};
		std::string copy = name;

		plain("in a virtual function");
		shape::draw(depth);
		sink += (uint32_t)copy.size();
	}
};

static NOINLINE bool throws(uint32_t depth)
{
	circle round;
	shape &any = round;

	try {
		any.draw(depth);
	} catch (const std::exception &e) {
		plain("in a catch block");
		try {
			throw;
		} catch (const std::runtime_error &again) {
			plain("in a catch block of an exception thrown again");
			return std::string(again.what()) == "drawn";
		}
	}
	return false;
}

static NOINLINE void callbacks()
{
	std::vector<int> number = {5, 3, 9, 1, 7};
	std::function<void(int)> call = [&](int n) {
		plain("in a lambda");
		sink += (uint32_t)n;
	};

	std::sort(number.begin(), number.end(), [](int a, int b) {
		static int calls;

		if (calls++ < 3)
			plain("inside std::sort");
		return a < b;
	});
	std::for_each(number.begin(), number.begin() + 2, call);
}

static struct constructed {
	constructed()
	{
		const char *note;

		if (trc_unwind_setup(TRC_UNWIND_AUTO, &note) == 0)
			plain("in a static constructor");
	}
} constructed;

int main()
{
	bool caught = true;

	for (uint32_t i = 0; i < 20; i++)
		caught &= throws(i % 5);
	callbacks();
	std::thread([&caught] {
		trc_unwind_thread(own_stack_bytes());
		plain("in a std::thread");
		caught &= throws(3);
	}).join();
	std::printf("%u stacks compared, %u differ%s\n", compare_made, compare_failed,
		    caught ? "" : ", an exception was lost");
	return compare_failed || compare_made < 60 || !caught;
}
