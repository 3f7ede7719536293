/* thread_plugin.c - is dlopened and closed again, with a thread in it meanwhile. */
#include <semaphore.h>

void plugin_wait(sem_t *sem);

__attribute__((visibility("default"), noinline)) void plugin_wait(sem_t *sem)
{
	sem_wait(sem);
	__asm__ volatile(""); /* not a jump */
}
