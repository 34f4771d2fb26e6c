import { hostname, userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { runTool } from './open-tool.ts';
import { runFileCommand, type FileCommand } from './file-commands.ts';

const usage = `usage: npm run files -- COMMAND
  backups                                  checks copies, and waits until files have them
  restore ID --reason TEXT                 brings the bytes of a file back from its copy
  restore --missing --reason TEXT          the same for every file whose bytes are missing
  restore --all --reason TEXT              the same after reading and comparing every file
  purge ID --reason TEXT                   removes a released file now
  audit                                    compares rows with what is stored`;

function fileCommand(args: readonly string[]): FileCommand | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      config: { type: 'string' },
      reason: { type: 'string' },
      missing: { type: 'boolean' },
      all: { type: 'boolean' },
    },
  });
  const [name, objectId, ...others] = positionals;
  if (others.length > 0) return undefined;
  if ((name === 'backups' || name === 'audit') && objectId === undefined) return { name };
  const reason = values.reason?.trim() ?? '';
  if (reason === '') return undefined;
  const asked = { operator: `${userInfo().username}@${hostname()}`, reason };
  if (name === 'purge' && objectId !== undefined) return { name, objectId, ...asked };
  if (name !== 'restore') return undefined;
  const chosen = [objectId, values.missing, values.all].filter((value) => value !== undefined);
  if (chosen.length !== 1) return undefined;
  if (objectId !== undefined) return { name, what: { objectId }, ...asked };
  return { name, what: values.all ? 'all' : 'missing', ...asked };
}

/** Undefined for arguments that are no command. */
function readCommand(args: readonly string[]): FileCommand | undefined {
  try {
    return fileCommand(args);
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
await runTool('files', args, 'Database, Temporal and a worker', (runtime) =>
  runFileCommand(command, { runtime, print: (line) => console.log(line) }),
);
