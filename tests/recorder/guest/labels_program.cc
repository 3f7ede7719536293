/*
 * labels_program.cc - labels in C++, for labels.sh: each region says what should be in force in it.
 *
 *   labels_program TRACE      under trace-record, into that trace
 *   labels_program TRACE N    N regions, the i-th from 0 under request=i: more sets than the
 *                             ring's table has room for
 */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <trc/labels.h>

static void region(const char *what)
{
	TRACE_REGION(what);
}

static void fail(void *)
{
	region("tenant=in-do");
	throw std::runtime_error("out of a function of trc's");
}

static void scopes(long long tenant)
{
	TRACE_LABELS("tenant", tenant);
	region("tenant=42");
	{
		const std::string phase = "parse";

		TRACE_LABELS("phase", phase.c_str());
		region("phase=parse tenant=42");
		std::thread([] { region("phase=parse tenant=42"); }).join();
	}
	region("tenant=42");
	TRACE_LABELS("small", static_cast<unsigned short>(3));
	throw std::runtime_error("out of a block");
}

template <class F> static void survive(F function)
{
	try {
		function();
	} catch (const std::exception &) {
		region("none");
	}
}

static void many(long n)
{
	for (long i = 0; i < n; i++) {
		const std::string request = std::to_string(i);

		TRACE_LABELS("request", request.c_str());
		region("one of many");
	}
}

int main(int argc, char **argv)
{
	const struct trace_label labels[] = {{"tenant", "in-do", 0, nullptr}};
	const struct trace_labels *in_do;

	if (trace_start(argv[1], nullptr)) {
		std::fprintf(stderr, "%s\n", trace_last_error());
		return 1;
	}
	if (argc > 2) {
		many(std::atol(argv[2]));
		return trace_stop() != 0;
	}
	region("none");
	if (trace_labels_create(&in_do, nullptr, labels, 1))
		return 1;
	survive([in_do] { trace_labels_do(in_do, fail, nullptr); });
	survive([] { scopes(42); });
	trace_labels_destroy(in_do);
	return trace_stop() ? 1 : 0;
}
