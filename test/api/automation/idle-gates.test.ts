import { pino } from 'pino';
import { expect, test } from 'vitest';
import { warnOfIdleGates } from '#runtime/warn-of-idle-gates.ts';
import { gateOf, publishGate } from '../../kit/automation/publish-gate.ts';
import { buildPerson } from '../../kit/people.ts';
import { openWorld } from '../../kit/world.ts';

test('a start with workflows switched off warns when published definitions would hold changes', async () => {
  const world = await openWorld();
  try {
    const { organization } = await buildPerson(world);
    const lines: { level: number; organizations: number; msg: string }[] = [];
    const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
    await warnOfIdleGates(world.runtime, logger);
    expect(lines).toEqual([]);
    await publishGate(world, organization.id, gateOf({}));
    await publishGate(world, organization.id, gateOf({ fields: ['priority'] }));
    await warnOfIdleGates(world.runtime, logger);
    expect(lines).toMatchObject([
      { level: 40, organizations: 1, msg: expect.stringContaining('workflows.enabled is off') },
    ]);
    await world.reconfigure({ CORE_WORKFLOWS_ENABLED: 'true' });
    await warnOfIdleGates(world.runtime, logger);
    expect(lines).toHaveLength(1);
  } finally {
    await world.close();
  }
});
