/*
 * exec_target.c - see exec_target.h
 *
 *   exec_target:Y1  this code and its caller take little of the stack, which may be a signal
 *       handler's.  Large variables lie in functions that are not inlined, one function at a time,
 *       and no function of stdio is called
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "exec_target.h"
#include "format/raw.h"
#include "recorder/shared/elf_loader.h"
#include "recorder/shared/layout.h"
#include "recorder/shared/text.h"
#include "recorder/unwind/memory.h"

enum {
	HEAD_BYTES = 256,     /* as many as the kernel reads of a script */
	HEADERS_BYTES = 1024, /* program headers beyond are not looked at */
	SCRIPTS_MAX = 4,
};

const char *trc_exec_preload;

/* ---- reading what the program passes ---------------------------------------------------- */

/*
 * It may be anything: the kernel would refuse it, so nothing is loaded from a page before the
 * kernel has said that it can be read.
 */
static bool target_is_readable(uintptr_t at, uintptr_t *page)
{
	uintptr_t its = at / TRC_AREA_BYTES + 1; /* 0 = none was asked for yet */

	if (its != *page && trc_memory_readable(at))
		*page = its;
	return its == *page;
}

/* As strncmp(text, start, strlen(start)) == 0. */
static bool name_begins_with(const char *text, const char *start, uintptr_t *page)
{
	for (; *start; text++, start++)
		if (!target_is_readable((uintptr_t)text, page) || *text != *start)
			return false;
	return true;
}

static bool is_text(const char *text, size_t n_bytes)
{
	uintptr_t page = 0;

	for (size_t i = 0; i < n_bytes && target_is_readable((uintptr_t)text + i, &page); i++)
		if (!text[i])
			return true;
	return false;
}

/* ---- finding --------------------------------------------------------------------------- */

/* True if there is a file that may be executed; its modes and owner. */
static bool look_at_file(const char *path, struct stat *st)
{
	int fd = (int)trc_raw4(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC, 0);
	bool found = fd >= 0 && !trc_raw2(SYS_fstat, fd, st) && S_ISREG(st->st_mode) &&
		     (st->st_mode & 0111);

	if (fd >= 0)
		trc_raw1(SYS_close, fd);
	return found;
}

static bool is_word_readable(uintptr_t at, uintptr_t *page)
{
	return target_is_readable(at, page) && target_is_readable(at + sizeof(char *) - 1, page);
}

/* What comes behind `start`, "NAME="; NULL = there is none. */
static const char *env_variable_find(char *const *envp, const char *start)
{
	uintptr_t page = 0, text_page = 0;

	for (; envp && is_word_readable((uintptr_t)envp, &page) && *envp; envp++)
		if (name_begins_with(*envp, start, &text_page))
			return *envp + strlen(start);
	return NULL;
}

/* The first n bytes of `dir`, and the name.  False: it is too long. */
static bool path_make(char path[TRC_EXEC_PATH_BYTES], const char *dir, size_t n, const char *name)
{
	struct trc_text t = trc_text_in(path, TRC_EXEC_PATH_BYTES);

	trc_text_put_bytes(&t, dir, n);
	trc_text_put(&t, n ? "/" : "./");
	trc_text_put(&t, name);
	return t.at < t.end;
}

/* As execvp(3): the first that can be executed. */
static bool target_find(const struct trc_exec_target *t, char path[TRC_EXEC_PATH_BYTES],
			struct stat *st)
{
	const char *at = env_variable_find(environ, "PATH=");

	if (t->how != TRC_EXEC_SEARCHED || strchr(t->path, '/')) {
		memcpy(path, t->path, strlen(t->path) + 1); /* is_text() */
		return look_at_file(path, st);
	}
	if (!at)
		at = "/bin:/usr/bin";
	for (;; at++) {
		size_t n = strcspn(at, ":");

		if (path_make(path, at, n, t->path) && look_at_file(path, st))
			return true;
		at += n;
		if (!*at)
			return false;
	}
}

/* ---- looking --------------------------------------------------------------------------- */

static const char *exec_look_at_elf(int fd, const char *head, size_t n_bytes, bool *without)
{
	Elf64_Ehdr elf;
	Elf64_Phdr phdr, dynamic = {.p_filesz = 0};

	*without = head[EI_CLASS] == ELFCLASS32;
	if (*without)
		return "a 32-bit program";
	if (n_bytes < sizeof(elf))
		return NULL;
	memcpy(&elf, head, sizeof(elf));
	*without = !trc_elf_machine_is_ours(elf.e_machine);
	if (*without)
		return "for another processor";
	for (unsigned int i = 0; i < elf.e_phnum; i++) {
		uint64_t off = elf.e_phoff + i * sizeof(phdr);

		if (elf.e_phentsize != sizeof(phdr) || off > HEADERS_BYTES - sizeof(phdr) ||
		    trc_raw4(SYS_pread64, fd, &phdr, sizeof(phdr), off) != sizeof(phdr))
			return NULL; /* PT_INTERP is one of the first, as a rule */
		if (phdr.p_type == PT_INTERP) {
			*without = !trc_elf_loader_is_ours(fd, &phdr);
			return *without ? "its C library is not glibc" : NULL;
		}
		if (phdr.p_type == PT_DYNAMIC)
			dynamic = phdr;
	}
	return elf.e_phnum && !trc_elf_is_loader(fd, &dynamic) ? "statically linked" : NULL;
}

/* "#!INTERPRETER": puts it into `path`. */
static bool take_interpreter(const char *head, size_t n_bytes, char path[TRC_EXEC_PATH_BYTES])
{
	size_t at = 2, n = 0;

	if (n_bytes < 3 || memcmp(head, "#!", 2) != 0)
		return false;
	while (at < n_bytes && (head[at] == ' ' || head[at] == '\t'))
		at++;
	while (at + n < n_bytes && n < TRC_EXEC_PATH_BYTES - 1 && head[at + n] &&
	       !strchr(" \t\r\n", head[at + n]))
		n++;
	memcpy(path, head + at, n);
	path[n] = '\0';
	return n != 0;
}

/* As the kernel has it: no modes count for a process that gave up new rights. */
static const char *look_at_modes(const struct stat *st)
{
	if (trc_raw5(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return NULL;
	if ((st->st_mode & S_ISUID) && st->st_uid != (uid_t)trc_raw1(SYS_geteuid, 0))
		return "set-user-ID";
	if ((st->st_mode & S_ISGID) && (st->st_mode & S_IXGRP) &&
	    st->st_gid != (gid_t)trc_raw1(SYS_getegid, 0))
		return "set-group-ID";
	return NULL;
}

/* The loader ignores LD_PRELOAD in a program that gains rights by being executed. */
static __attribute__((noinline)) const char *exec_look_at_rights(const char *path,
								 const struct stat *st)
{
	const char *why = st->st_mode & (S_ISUID | S_ISGID) ? look_at_modes(st) : NULL;
	struct statfs fs;

	if (!why && trc_raw1(SYS_geteuid, 0) &&
	    trc_raw4(SYS_getxattr, path, "security.capability", NULL, 0) > 0)
		why = "file capabilities";
	if (why && !trc_raw2(SYS_statfs, path, &fs) && fs.f_flags & ST_NOSUID)
		return NULL;
	return why;
}

/* `look->path` gets a script's interpreter. */
static __attribute__((noinline)) bool look_inside(struct trc_exec_look *look)
{
	char head[HEAD_BYTES];
	int fd =
		(int)trc_raw4(SYS_openat, AT_FDCWD, look->path, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0);
	long n = fd < 0 ? 0 : trc_raw3(SYS_read, fd, head, sizeof(head));
	bool is_script = n > 0 && take_interpreter(head, (size_t)n, look->path);

	if (n >= EI_NIDENT && !memcmp(head, ELFMAG, SELFMAG))
		look->why = exec_look_at_elf(fd, head, (size_t)n, &look->without);
	if (fd >= 0)
		trc_raw1(SYS_close, fd);
	return is_script;
}

static const char *look_at_environment(const struct trc_exec_target *t)
{
	return env_variable_find(t->envp, "LD_PRELOAD=") &&
			       env_variable_find(t->envp, "TRC_SESSION=")
		       ? NULL
		       : "started without LD_PRELOAD";
}

/* Under another root, or with other rights, the recorder's file may be out of reach.  That there is
 * no descriptor or memory now says nothing. */
static bool is_out_of_reach(void)
{
	long fd = trc_exec_preload ? trc_raw4(SYS_openat, AT_FDCWD, trc_exec_preload,
					      O_RDONLY | O_CLOEXEC, 0)
				   : -EINTR;

	if (fd >= 0)
		trc_raw1(SYS_close, (int)fd);
	return fd == -ENOENT || fd == -ENOTDIR || fd == -EACCES || fd == -EPERM || fd == -ELOOP;
}

/* Valgrind's tools are static, and load what LD_PRELOAD names with the program that they run. */
static bool is_valgrind(const struct trc_exec_target *t, const char *path)
{
	return env_variable_find(t->envp, "VALGRIND_LAUNCHER=") && strstr(path, "/valgrind/");
}

void trc_exec_target_look(const struct trc_exec_target *t, struct trc_exec_look *look)
{
	bool found, is_script = true;
	struct stat st;

	*look = (struct trc_exec_look){.why = NULL};
	found = is_text(t->path, TRC_EXEC_PATH_BYTES) &&
		(t->how != TRC_EXEC_ABSOLUTE || *t->path == '/') && target_find(t, look->path, &st);
	for (int i = 0; found && is_script && i < SCRIPTS_MAX; i++) {
		is_script = look_inside(look);
		if (is_script)
			found = look_at_file(look->path, &st);
	}
	if (!found || is_script) /* it cannot be executed */
		return;
	if (is_valgrind(t, look->path)) {
		look->why = NULL;
		return;
	}
	if (!look->why)
		look->why = exec_look_at_rights(look->path, &st);
	if (look->why)
		return;
	look->why = look_at_environment(t);
	look->without = !look->why && is_out_of_reach();
	if (look->without)
		look->why = "the recorder is out of its reach";
}

/* ---- an environment without the recorder ------------------------------------------------- */

enum {
	WORDS_MAX = 1024, /* on the stack of whoever executes a program */
	TEXT_MAX = 2048,
};

static const char list_start[] = "LD_PRELOAD=";

/* Finds the recorder in the list, and the separator that goes with it. */
static bool env_list_find(const char *variable, struct trc_exec_env *env)
{
	size_t own_bytes = strlen(trc_exec_preload), n;
	const char *at = variable + strlen(list_start);

	for (;; at += n + 1) {
		n = strcspn(at, ": ");
		if (n == own_bytes && !memcmp(at, trc_exec_preload, n))
			break;
		if (!at[n])
			return false;
	}
	env->cut_bytes = n + (at[n] != '\0');
	env->cut_off = (size_t)(at - variable);
	if (!at[n] && variable[env->cut_off - 1] != '=') {
		env->cut_off--;
		env->cut_bytes++;
	}
	env->text_bytes = strlen(variable) + 1 - env->cut_bytes;
	env->is_empty = env->text_bytes == sizeof(list_start);
	return true;
}

void trc_exec_env_plan(char *const *envp, struct trc_exec_env *env)
{
	uintptr_t page = 0, text_page = 0;
	bool found = false;
	size_t n = 0;

	for (; envp && n < WORDS_MAX && is_word_readable((uintptr_t)(envp + n), &page) && envp[n];
	     n++)
		if (!found && name_begins_with(envp[n], list_start, &text_page) &&
		    is_text(envp[n], TEXT_MAX) && env_list_find(envp[n], env)) {
			env->at = n;
			found = true;
		}
	/* What cannot be read is left to the kernel to refuse. */
	if (found && n < WORDS_MAX && is_word_readable((uintptr_t)(envp + n), &page))
		env->n_words = n + 1;
	else
		*env = (struct trc_exec_env){.n_words = 0};
}
