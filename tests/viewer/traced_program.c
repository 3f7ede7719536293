/*
 * traced_program.c - gives the assembled trace's stacks real addresses, with names and lines.
 * Never run.
 */
#define FUNCTION(name)                                                                             \
	__attribute__((noinline)) void name(void)                                                  \
	{                                                                                          \
		__asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop; nop; nop");              \
	}

FUNCTION(account_lock)
FUNCTION(account_unlock)
FUNCTION(transfer)

int main(void)
{
	account_lock();
	account_unlock();
	transfer();
	return 0;
}
