/* service/main.c - the program: finds the subcommand and runs it. */
int main(void)
{
    return 2;
}
