/*
 * module_owner.h - whose code a module is: the program's own, or a library through which the
 * program waits.
 */
#ifndef TRC_FORMAT_MODULE_OWNER_H
#define TRC_FORMAT_MODULE_OWNER_H

enum trc_module_owner {
	TRC_OWNER_PROGRAM,
	TRC_OWNER_LIBRARY, /* libc and its like */
	TRC_OWNER_TRC,
};
/* By the name of the module's file; NULL = the program. */
enum trc_module_owner trc_module_owner(const char *path);

#endif
