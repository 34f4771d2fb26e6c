import { parseArgs } from 'node:util';
import { createMigration, migrate, migrationState } from './migrator.ts';

const usage = `usage: npm run migrate [-- status] [-- --url postgres://…]
       npm run migrate:new -- NAME [--url postgres://…]`;

const { positionals, values } = parseArgs({ allowPositionals: true, options: { url: { type: 'string' } } });
const [command = 'up', name] = positionals;
const url = values.url ?? '';

if (command === 'up') {
  const ran = await migrate(url);
  console.log(ran.length === 0 ? 'The schema is up to date.' : `Ran ${ran.join(', ')}.`);
} else if (command === 'status') {
  const state = await migrationState(url);
  console.log(`executed: ${state.executed.join(', ') || 'none'}\npending: ${state.pending.join(', ') || 'none'}`);
} else if (command === 'new' && name) {
  const file = await createMigration(url, name);
  console.log(
    file
      ? `Wrote migrations/${file}; add it to migrations/index.ts.`
      : 'The entities and the snapshot agree; nothing to write.',
  );
} else {
  console.error(usage);
  process.exitCode = 2;
}
