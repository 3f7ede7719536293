// unwind_kept_cxx.cc - for unwind_kept.c: exceptions thrown through frames whose stacks were taken.
#include <cstdint>

extern "C" void throw_through(void (*probe)(), std::uint32_t depth);

namespace
{
struct Guard {
	void (*probe)();
	~Guard()
	{
		probe();
	}
};

__attribute__((noinline)) void down(void (*probe)(), std::uint32_t depth)
{
	Guard guard{probe};

	probe();
	if (!depth)
		throw 1;
	down(probe, depth - 1);
	probe();
}
} // namespace

void throw_through(void (*probe)(), std::uint32_t depth)
{
	probe();
	try {
		down(probe, depth);
	} catch (int) {
		probe();
	}
	probe();
}
