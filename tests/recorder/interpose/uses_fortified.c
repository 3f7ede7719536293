/*
 * uses_fortified.c - calls what _FORTIFY_SOURCE makes of poll, read, recv and open: by name, as
 * not every compiler makes the same of them.
 */
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

int __open_2(const char *path, int flags);
ssize_t __read_chk(int fd, void *buffer, size_t n_bytes, size_t buffer_bytes);
ssize_t __pread_chk(int fd, void *buffer, size_t n_bytes, off_t off, size_t buffer_bytes);
ssize_t __recv_chk(int fd, void *buffer, size_t n_bytes, size_t buffer_bytes, int flags);
ssize_t __recvfrom_chk(int fd, void *buffer, size_t n_bytes, size_t buffer_bytes, int flags,
		       struct sockaddr *from, socklen_t *from_bytes);
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t fds_bytes);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		const sigset_t *mask, size_t fds_bytes);

int main(void)
{
	struct pollfd fds[4] = {{.fd = -1}};
	struct timespec none = {0};
	char buffer[8];
	int pair[2];
	int fd = __open_2("/dev/zero", O_RDONLY);

	if (fd < 0 || __read_chk(fd, buffer, 1, sizeof(buffer)) != 1 ||
	    __pread_chk(fd, buffer, 1, 0, sizeof(buffer)) != 1)
		return 1;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || write(pair[0], "ab", 2) != 2)
		return 2;
	if (__recv_chk(pair[1], buffer, 1, sizeof(buffer), 0) != 1 ||
	    __recvfrom_chk(pair[1], buffer, 1, sizeof(buffer), 0, NULL, NULL) != 1)
		return 3;
	return __poll_chk(fds, 1, 0, sizeof(fds)) ||
	       __ppoll_chk(fds, 1, &none, NULL, sizeof(fds));
}
