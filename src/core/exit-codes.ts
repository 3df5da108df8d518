/** The exit codes of every command. A supervisor should not restart a service after 64 or 78, which come from sysexits.h. */
export const EXIT_CODES = {
  success: { code: 0, meaning: 'The command has done its work. A server has stopped after SIGTERM or SIGINT.' },
  failure: {
    code: 1,
    meaning: 'The command has failed, for the reason on standard error. With `--check`, something is not in order.',
  },
  checkFailure: { code: 2, meaning: '`zomma check` has found a failure. With 1, it has found warnings only.' },
  usage: { code: 64, meaning: 'The command line has an unknown command, flag or choice, or an argument is missing.' },
  setting: {
    code: 78,
    meaning: 'A setting is invalid or missing: a flag, a variable, the file of settings, or a file that it names.',
  },
} as const;
