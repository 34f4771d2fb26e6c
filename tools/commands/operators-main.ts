import { hostname, userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { runTool } from './open-tool.ts';
import { runOperatorCommand, type OperatorCommand } from './operator-commands.ts';

const usage = `usage: npm run operators -- COMMAND
  list                           who operates this installation over REST, and who did
  grant PERSON --reason TEXT     lets a user do so; PERSON is an e-mail address or an id
  revoke PERSON --reason TEXT    ends that`;

/** Undefined for arguments that are no command. */
function readCommand(args: readonly string[]): OperatorCommand | undefined {
  try {
    const options = { config: { type: 'string' }, reason: { type: 'string' } } as const;
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
    const [name, person, ...others] = positionals;
    if (name === 'list' && person === undefined) return { name };
    const reason = values.reason?.trim() ?? '';
    if ((name !== 'grant' && name !== 'revoke') || person === undefined || others.length > 0 || reason === '')
      return undefined;
    return { name, person, by: `${userInfo().username}@${hostname()}`, reason };
  } catch (error) {
    console.error((error as Error).message);
    return undefined;
  }
}

const args = process.argv.slice(2);
const command = readCommand(args);
if (!command) {
  console.error(usage);
  process.exit(2);
}
await runTool('operators', args, 'The database', (runtime) =>
  runOperatorCommand(command, { runtime, print: (line) => console.log(line) }),
);
