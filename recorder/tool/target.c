/* target.c - finds the command, and checks it before it is run. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "recorder/shared/elf_loader.h"
#include "tool.h"

enum { HEAD_BYTES = 4096, SCRIPTS_MAX = 5, PHDRS_MAX = 512 };

/* ---- finding --------------------------------------------------------------------------- */

/* 0, or -errno: why this file cannot be executed. */
static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return access(path, X_OK) ? -errno : 0;
}

/* As execvp(3): the first that can be executed; one that is there but cannot is remembered. */
static int command_find(const char *command, char path[PATH_MAX])
{
	const char *at = getenv("PATH");
	int found = -ENOENT;

	if (strchr(command, '/')) {
		snprintf(path, PATH_MAX, "%s", command);
		return check_executable(path);
	}
	if (!at)
		at = "/bin:/usr/bin";
	for (;; at++) {
		size_t n = strcspn(at, ":");
		int err;

		snprintf(path, PATH_MAX, "%.*s%s%s", (int)n, at, n ? "/" : "./", command);
		err = check_executable(path);
		if (!err)
			return 0;
		if (err == -EACCES)
			found = err;
		at += n;
		if (!*at)
			return found;
	}
}

/* ---- looking --------------------------------------------------------------------------- */

/* NULL, or why programs of this ELF file cannot be recorded. */
static const char *target_look_at_elf(int fd, const char *head, size_t n_bytes)
{
	Elf64_Phdr dynamic = {.p_filesz = 0};
	Elf64_Ehdr elf;

	if (head[EI_CLASS] == ELFCLASS32)
		return "it is a 32-bit program: cannot be recorded";
	if (n_bytes < sizeof(elf))
		return NULL; /* exec will say */
	memcpy(&elf, head, sizeof(elf));
	if (!trc_elf_machine_is_ours(elf.e_machine))
		return "it is a program for another processor: cannot be recorded";
	if (elf.e_phentsize != sizeof(Elf64_Phdr) || elf.e_phnum > PHDRS_MAX)
		return NULL;
	for (unsigned int i = 0; i < elf.e_phnum; i++) {
		Elf64_Phdr phdr;

		if (pread(fd, &phdr, sizeof(phdr), (off_t)(elf.e_phoff + i * sizeof(phdr))) !=
		    sizeof(phdr))
			return NULL;
		if (phdr.p_type == PT_INTERP)
			return trc_elf_loader_is_ours(fd, &phdr)
				       ? NULL
				       : "its C library is not glibc: the recorder cannot be loaded "
					 "there, it cannot be recorded";
		if (phdr.p_type == PT_DYNAMIC)
			dynamic = phdr;
	}
	return trc_elf_is_loader(fd, &dynamic)
		       ? NULL
		       : "it is statically linked: there is no loader that could preload the "
			 "recorder, it cannot be recorded";
}

/* The loader ignores LD_PRELOAD in a program that gains rights by being executed.  The kernel gives
 * none on a file system of that kind, and none by modes to a process that gave up new ones. */
static const char *target_look_at_rights(int fd)
{
	bool gives_up = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
	struct statvfs fs;
	struct stat st;

	if (fstat(fd, &st) || (!fstatvfs(fd, &fs) && fs.f_flag & ST_NOSUID))
		return NULL;
	if ((st.st_mode & S_ISUID) && st.st_uid != geteuid() && !gives_up)
		return "it is set-user-ID: the loader preloads nothing there, it cannot be "
		       "recorded";
	if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getegid() && !gives_up)
		return "it is set-group-ID: the loader preloads nothing there, it cannot be "
		       "recorded";
	if (geteuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "it has file capabilities: the loader preloads nothing there, it cannot be "
		       "recorded";
	return NULL;
}

/* The interpreter named in the first line of a script; false if there is none. */
static bool script_interpreter(const char *head, size_t n_bytes, char path[PATH_MAX])
{
	const char *end = head + n_bytes, *at = head + 2;
	size_t n = 0;

	if (n_bytes < 3 || memcmp(head, "#!", 2) != 0)
		return false;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	while (at + n < end && n < PATH_MAX - 1 && !strchr(" \t\r\n", at[n]) && at[n])
		n++;
	memcpy(path, at, n);
	path[n] = '\0';
	return n != 0;
}

/* NULL, or why `path` cannot be recorded; a script's interpreter is put in its place. */
static const char *target_look(char path[PATH_MAX], bool *again)
{
	char head[HEAD_BYTES] = "";
	const char *why = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n;

	*again = false;
	if (fd < 0) /* executable, but not readable: the end will tell */
		return NULL;
	n = read(fd, head, sizeof(head));
	if (n >= EI_NIDENT && !memcmp(head, ELFMAG, SELFMAG)) {
		why = target_look_at_elf(fd, head, (size_t)n);
		if (!why)
			why = target_look_at_rights(fd);
	} else if (n > 0) {
		*again = script_interpreter(head, (size_t)n, path);
	}
	close(fd);
	return why;
}

int trc_target_check(const char *command, char sanitizer[TRC_SANITIZER_BYTES])
{
	char path[PATH_MAX];
	const char *why = NULL;
	bool again = true;
	int err = command_find(command, path);

	if (err) {
		trc_tool_say("%s: %s", command, strerror(-err));
		return err == -ENOENT || err == -ENOTDIR ? TRC_EXIT_NOT_FOUND : TRC_EXIT_REFUSED;
	}
	for (int i = 0; i < SCRIPTS_MAX && again && !why; i++)
		why = target_look(path, &again);
	if (!why) {
		if (!trc_target_sanitizer(path, sanitizer))
			sanitizer[0] = '\0';
		return 0;
	}
	trc_tool_say("%s: %s", path, why);
	return TRC_EXIT_REFUSED;
}

/* ---- our own files --------------------------------------------------------------------- */

/* The directory of this program's file, with a slash. */
static bool tool_dir(char dir[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", dir, PATH_MAX - 1);

	if (n <= 0)
		return false;
	dir[n] = '\0';
	strrchr(dir, '/')[1] = '\0';
	return true;
}

static bool path_try(char path[PATH_MAX], int how, const char *dir, const char *a, const char *b)
{
	int n = snprintf(path, PATH_MAX, "%s%s%s", dir, a, b);

	return n < PATH_MAX && !access(path, how);
}

bool trc_target_sibling(const char *room, const char *name, char path[PATH_MAX])
{
	char dir[PATH_MAX], beside[64];

	snprintf(beside, sizeof(beside), "../%s/", room);
	/* Installed, or in a build tree. */
	return tool_dir(dir) &&
	       (path_try(path, X_OK, dir, "", name) || path_try(path, X_OK, dir, beside, name) ||
		path_try(path, X_OK, dir, "../", name));
}

int trc_target_preload(char path[PATH_MAX])
{
	static const char name[] = "libtrc-preload.so";
	const char *given = getenv("TRC_PRELOAD");
	char dir[PATH_MAX];
	bool found;

	if (given && *given) {
		found = path_try(path, R_OK, given, "", "");
	} else {
		/* In a build tree, in a tree that was moved, where it was installed. */
		found = (tool_dir(dir) && (path_try(path, R_OK, dir, "../.libs/", name) ||
					   path_try(path, R_OK, dir, "../lib/trc/", name))) ||
			path_try(path, R_OK, TRC_PKGLIBDIR, "/", name);
	}
	if (!found)
		trc_tool_say("%s: %s", given && *given ? given : name, strerror(errno));
	else if (strpbrk(path, " :")) /* LD_PRELOAD has no quoting */
		trc_tool_say("%s: a path with a space or colon cannot be preloaded", path);
	else
		return 0;
	return -ENOENT;
}
