/* drain_fixture.c - what the tests of the drain share. */
#include "drain_fixture.h"
#include <time.h>
#include "tests/often.h"

struct fake f;
struct fake_file file;

void drain_set_up(void)
{
	fake_init(&f, 16384, NULL); /* two pages of 1024 words */
}

void drain_tear_down(void)
{
	fake_file_free(&file);
	fake_free(&f);
}

void put_counted(uint32_t proc, uint64_t n)
{
	uint64_t words[2] = {n, 3 * n};

	expect(fake_put(&f, proc, 100 + n, TRC_KIND_RELEASE, 0, 7, words, 2));
}

const struct fake_row *row(unsigned int kind, size_t i)
{
	const struct fake_row *r = fake_row(&file, kind, i);

	expect_msg(r != NULL, "no event %zu of kind %u", i, kind);
	return r;
}

void sleep_ms(long ms)
{
	struct timespec t = {0, ms * 1000000};

	nanosleep(&t, NULL);
}
