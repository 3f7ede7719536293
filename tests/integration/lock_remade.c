/*
 * lock_remade.c - two locks that lie in memory of their own are taken in one order; that memory is given back and
 * allocated again, so that the locks there change places; and these are taken in the same order, which is
 * the other one by their addresses.  No deadlock could come of that.
 *
 * Output: "swapped" if the addresses changed places, as they do with glibc's malloc.  Then the function that allocated each lock, and the
 * lock's address; separated by a tab.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check_or_exit.h"

struct node {
	pthread_mutex_t lock;
	char data[200];
};

static struct node *first, *second;

static struct node *node_make(void)
{
	struct node *node = malloc(sizeof(*node));

	CHECK(node && !pthread_mutex_init(&node->lock, NULL));
	return node;
}

static void node_free(struct node *node)
{
	CHECK(!pthread_mutex_destroy(&node->lock));
	free(node);
}

/* Another place that allocates a lock. */
__attribute__((noinline)) static struct node *table_make(void)
{
	struct node *table = calloc(3, sizeof(*table));

	CHECK(table && !pthread_mutex_init(&table[2].lock, NULL));
	return table;
}

/* Always the first one first. */
__attribute__((noinline)) static void take_both(void)
{
	pthread_mutex_lock(&first->lock);
	pthread_mutex_lock(&second->lock);
	pthread_mutex_unlock(&second->lock);
	pthread_mutex_unlock(&first->lock);
}

static pthread_barrier_t turn;

static void *one(void *unused)
{
	take_both();
	pthread_barrier_wait(&turn);
	pthread_barrier_wait(&turn);
	return unused;
}

/* A thread of its own, that is there all the time. */
static void *other(void *unused)
{
	pthread_barrier_wait(&turn);
	pthread_barrier_wait(&turn);
	take_both();
	return unused;
}

int main(void)
{
	struct node *table;
	pthread_t thread[2];
	void *before[2];

	first = node_make();
	second = node_make();
	before[0] = first;
	before[1] = second;
	CHECK(!pthread_barrier_init(&turn, NULL, 3));
	CHECK(!pthread_create(&thread[0], NULL, one, NULL));
	CHECK(!pthread_create(&thread[1], NULL, other, NULL));
	pthread_barrier_wait(&turn);
	node_free(first);
	node_free(second);
	first = node_make(); /* the one that was given back last */
	second = node_make();
	puts(first == before[1] && second == before[0] ? "swapped" : "not swapped");
	table = table_make();
	pthread_mutex_lock(&table[2].lock);
	pthread_mutex_unlock(&table[2].lock);
	printf("node_make\t%ju\nnode_make\t%ju\ntable_make\t%ju\n",
	       (uintmax_t)(uintptr_t)&first->lock, (uintmax_t)(uintptr_t)&second->lock,
	       (uintmax_t)(uintptr_t)&table[2].lock);
	pthread_barrier_wait(&turn);
	CHECK(!pthread_join(thread[0], NULL) && !pthread_join(thread[1], NULL));
	return 0;
}
