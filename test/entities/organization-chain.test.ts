import { Client } from 'pg';
import { expect, test } from 'vitest';
import { buildPart } from '../kit/people.ts';
import { openWorld } from '../kit/world.ts';

const joins = ['hashjoin', 'mergejoin', 'nestloop'] as const;

test('the organizations from which roles pass down are read nearest first, in whichever way PostgreSQL joins', async () => {
  const world = await openWorld();
  const client = new Client({ connectionString: world.databaseUrl });
  try {
    await client.connect();
    const root = await buildPart(world, null);
    const middle = await buildPart(world, root.id);
    const part = await buildPart(world, middle.id);
    for (const join of joins) {
      for (const other of joins) await client.query(`set enable_${other} = ${other === join ? 'on' : 'off'}`);
      const { rows } = await client.query('select organizations from authorization_state($1)', [part.id]);
      expect({ join, rows }).toEqual({ join, rows: [{ organizations: [part.id, middle.id, root.id] }] });
    }
  } finally {
    await client.end();
    await world.close();
  }
});
