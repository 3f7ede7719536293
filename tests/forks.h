/*
 * forks.h - what may be asked of forked children in this build.
 *
 * The address sanitizer's allocator is not seen to at a fork: where another thread holds one of its
 * locks just then, as a thread does that begins, the child hangs at its next malloc().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_FORKS_H
#define TESTS_FORKS_H

#ifdef __SANITIZE_ADDRESS__
enum { ALLOCATOR_NOT_FOR_FORKS = 1 };
#else
enum { ALLOCATOR_NOT_FOR_FORKS = 0 };
#endif

#endif
