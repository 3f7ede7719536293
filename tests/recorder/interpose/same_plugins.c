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

static void *opened(const char *dir, const char *plugin)
{
	char path[4096];
	void *handle;

	snprintf(path, sizeof(path), "%s/%s.so", dir, plugin);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		puts(dlerror());
	return handle;
}

static void use(const char *dir, const char *plugin)
{
	void *handle = opened(dir, plugin);
	void (*run)(const char *what);

	if (!handle)
		return;
	run = (void (*)(const char *))(uintptr_t)dlsym(handle, "plugin_run");
	run(plugin);
	run(plugin);
	printf("closed: %d\n", dlclose(handle));
}

static void call(void *handle, const char *name)
{
	void (*function)(void) = (void (*)(void))(uintptr_t)dlsym(handle, name);

	function();
	puts(name);
}

/* What one gave while another was there, with its own operators, it takes back without that. */
static void two(const char *dir, const char *own)
{
	void *first = opened(dir, own), *second = opened(dir, "libplugincxx");

	if (!first || !second)
		return;
	call(first, "plugin_take");
	call(second, "plugin_take");
	call(first, "plugin_give");
	printf("closed: %d\n", dlclose(first));
	call(second, "plugin_give");
	call(second, "plugin_take");
	first = opened(dir, own);
	call(first, "plugin_take");
	call(second, "plugin_give");
	call(first, "plugin_give");
	printf("closed: %d, %d\n", dlclose(second), dlclose(first));
}

/* Opened twice, as it may have gone in between. */
static void twice(const char *dir, const char *plugin)
{
	use(dir, plugin);
	use(dir, plugin);
}

static int child(void (*body)(const char *dir, const char *plugin), const char *dir,
		 const char *plugin)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid) {
		body(dir, plugin);
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	const char *dir = argc > 1 ? dirname(strdup(argv[1])) : ".";

	return child(twice, dir, "libpluginown") || child(twice, dir, "libplugincxx") ||
	       child(two, dir, "libpluginown");
}
