/* What the symbol tests compile: functions that stay, and functions that are inlined. */
#include <stdio.h>

static volatile int counter;
static volatile struct {
	int first, second[5];
} settings;

static inline __attribute__((always_inline)) int innermost(int value)
{
	counter += value + settings.second[0];
	return counter * 3;
}

static inline __attribute__((always_inline)) int middle(int value)
{
	int result = innermost(value + 1);

	return result + innermost(value + 2);
}

__attribute__((noinline)) static int stays(int value)
{
	int sum = 0;

	for (int i = 0; i < value; i++) {
		int part = middle(i);

		sum += part;
	}
	return sum;
}

__attribute__((noinline)) int exported(int value)
{
	return stays(value) + 1;
}

int main(int argc, char **argv)
{
	(void)argv;
	printf("%d\n", exported(argc));
	return 0;
}
