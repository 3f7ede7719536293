/*
 * same_plugins.c - a program in C with plugins in C++, which bring operators new and delete with
 * them, each in a child of its own; takes the name of a file in the directory where they are.
 */
#include <dlfcn.h>
#include <libgen.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void use(const char *dir, const char *plugin)
{
	char path[4096];
	void (*run)(const char *what);
	void *handle;

	snprintf(path, sizeof(path), "%s/%s.so", dir, plugin);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		puts(dlerror());
		return;
	}
	run = (void (*)(const char *))(uintptr_t)dlsym(handle, "plugin_run");
	run(plugin);
	run(plugin);
	printf("closed: %d\n", dlclose(handle));
}

/* Opened twice, as it may have gone in between. */
static int child(const char *dir, const char *plugin)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid) {
		use(dir, plugin);
		use(dir, plugin);
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	const char *dir = argc > 1 ? dirname(strdup(argv[1])) : ".";

	return child(dir, "libpluginown") || child(dir, "libplugincxx");
}
