/*
 * serial.c - ten functions A to J, one after the other, each begins with what the one before
 * came to; A does one part of the work, J ten: 1.82 %, 3.64 %, ... 18.18 %.
 *
 *   serial [THOUSANDS_OF_ROUNDS [SWEEPS]]     of one part, in so many sweeps from A to J
 *
 * In one sweep, a machine that is slower for a moment makes the function larger that it had then;
 * several spread its moments over all of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "work.h"

enum { FUNCTIONS = 10 };

WORK_FUNCTION(A)
WORK_FUNCTION(B)
WORK_FUNCTION(C)
WORK_FUNCTION(D)
WORK_FUNCTION(E)
WORK_FUNCTION(F)
WORK_FUNCTION(G)
WORK_FUNCTION(H)
WORK_FUNCTION(I)
WORK_FUNCTION(J)

static struct work work[FUNCTIONS] = {
	{"A", A, 0}, {"B", B, 0}, {"C", C, 0}, {"D", D, 0}, {"E", E, 0},
	{"F", F, 0}, {"G", G, 0}, {"H", H, 0}, {"I", I, 0}, {"J", J, 0},
};

int main(int argc, char **argv)
{
	uint64_t rounds = work_rounds(argc, argv, 4000), x = 1;
	unsigned int sweeps = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 10) : 1;

	for (unsigned int sweep = 0; sweep < sweeps; sweep++)
		for (unsigned int i = 0; i < FUNCTIONS; i++)
			x = work_do(&work[i], x, (i + 1) * rounds / sweeps);
	work_print(work, FUNCTIONS);
	return x == 0; /* never: xorshift has no way to 0 */
}
