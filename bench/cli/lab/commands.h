/* cli/lab/commands.h: what comes after `attn lab`. argv[0] is the subcommand's name. */
#ifndef ATTN_CLI_LAB_COMMANDS_H
#define ATTN_CLI_LAB_COMMANDS_H

int lab_command_list(int argc, char **argv);
int lab_command_run(int argc, char **argv);
int lab_command_draw(int argc, char **argv);
int lab_command_train(int argc, char **argv);
int lab_command_export(int argc, char **argv);
int lab_command_solve(int argc, char **argv);
int lab_command_dump(int argc, char **argv);
int lab_command_write(int argc, char **argv);
int lab_command_heads(int argc, char **argv);

#endif
