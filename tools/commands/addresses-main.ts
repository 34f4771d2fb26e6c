import { parseArgs } from 'node:util';
import { runAddressCommand, type AddressCommand } from './address-commands.ts';
import { runTool } from './open-tool.ts';

const usage = `usage: npm run addresses -- COMMAND
  list                             addresses that get no e-mails about accounts, and why
  release ADDRESS --reason TEXT    sends them there again, also at the provider`;

/** Undefined for arguments that are no command. */
function readCommand(args: readonly string[]): AddressCommand | undefined {
  try {
    const options = { config: { type: 'string' }, reason: { type: 'string' } } as const;
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
    const [name, address, ...others] = positionals;
    if (name === 'list' && address === undefined) return { name };
    const reason = values.reason?.trim() ?? '';
    if (name !== 'release' || address === undefined || others.length > 0 || reason === '') return undefined;
    return { name, address, reason };
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
await runTool('addresses', args, 'Database, Temporal and a worker', (runtime) =>
  runAddressCommand(command, { runtime, print: (line) => console.log(line) }),
);
