/*
 * uses_fortified.c - calls what _FORTIFY_SOURCE makes of poll, read, recv and open.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char *const *volatile unknown = argv;
	unsigned int n = (unsigned int)argc; /* 1, but the compiler does not know */
	int flags = unknown[1] ? O_RDWR : O_RDONLY;
	struct pollfd fds[4] = {{.fd = -1}};
	struct timespec none = {0};
	int pair[2], fd;
	char buffer[8];

	fd = open("/dev/zero", flags);
	if (fd < 0 || read(fd, buffer, n) != 1 || pread(fd, buffer, n, 0) != 1)
		return 1;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || write(pair[0], "ab", 2) != 2)
		return 2;
	if (recv(pair[1], buffer, n, 0) != 1 || recvfrom(pair[1], buffer, n, 0, NULL, NULL) != 1)
		return 3;
	return poll(fds, n, 0) || ppoll(fds, n, &none, NULL) ? 4 : 0;
}
