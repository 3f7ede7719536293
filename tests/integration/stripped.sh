#!/bin/bash
# A stripped program that exports some of its functions, as servers from distributions do: a place without a name is told with the
# first of its callers that has one.
. "$(dirname "$0")/lib.sh"
need_unsanitized
need cc

cat >stripped.c <<'END_C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int n;
static __attribute__((noinline)) void hidden(void)
{
	pthread_mutex_lock(&lock);
	usleep(2000);
	pthread_mutex_unlock(&lock);
	n++;
}
static __attribute__((noinline)) void deeper(void)
{
	hidden();
	n++;
}
void commit_order(void)
{
	deeper();
	n++;
}
static void *run(void *arg)
{
	for (int i = 0; i < 20; i++)
		commit_order();
	return arg;
}
int main(void)
{
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, run, NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
END_C
cc -O1 -rdynamic -pthread -s -o stripped stripped.c || fail 'the program does not compile'
"$trace_record" -q -o t.trc -- ./stripped || fail "trace-record: status $?"
"$trace_analyze" t.trc >report.txt || fail "no report: status $?"
grep -q '^  stripped+0x[0-9a-f]* (below commit_order) caused ' report.txt || fail "the finding does not say below what: $(head -n 20 report.txt)"
passed 'a finding tells below which function the place without a name is'
grep -q 'stripped+0x[0-9a-f]* < stripped+0x[0-9a-f]* < commit_order' report.txt || fail "no chain: $(cat report.txt)"
grep 'commit_order (below' report.txt && fail 'a place with a name has no other'
passed 'a chain of callers has them anyway'
