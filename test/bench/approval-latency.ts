import { setTimeout as pause } from 'node:timers/promises';
import { listeners } from '#activities/listeners/index.ts';
import { openApiInstallation, type ApiInstallation } from './api-installation.ts';
import { pace } from './pace.ts';
import { median, percentile, spreadOf, type Bench } from './row.ts';
import { signIn } from './records.ts';

/** Decisions of a round, one after the other. */
const decisions = 20;

/** From the answer to the last decision about a held change to the changed record. */
export const approvalLatency: Bench = {
  name: 'approval-latency',
  run: async (say) => {
    const installation = await openApiInstallation({ CORE_WORKFLOWS_ENABLED: 'true' }, 1, listeners);
    const { url, client, people } = installation;
    try {
      await installation.startWorker();
      const [owner] = people as [ApiInstallation['people'][number]];
      const { rows } = await client.query<{ id: string; email: string }>(
        `update users u set password_hash = o.password_hash, email_confirmed_at = o.email_confirmed_at from users o
         where o.id = $1 and u.email = 'member-0@example.com' returning u.id, u.email`,
        [owner.userId],
      );
      const [{ id: approverId, email }] = rows as [(typeof rows)[number]];
      const approver = await signIn(url, { ...owner, email });
      const ask = requester(url, owner.token);
      const definition = await ask('POST', '/v1/workflow-definitions', definitionFor(approverId));
      await ask('POST', `/v1/workflow-definitions/${definition['id'] as string}/publish`);
      const left = [...owner.taskIds];
      const round = async (): Promise<number[]> => {
        const taskIds = left.splice(0, decisions);
        for (const id of taskIds) await ask('PATCH', `/v1/tasks/${id}`, { assignee_id: approverId });
        for (const id of taskIds) await ask('PATCH', `/v1/tasks/${id}`, { status: 'completed' });
        const latencies: number[] = [];
        for (const id of taskIds) latencies.push(await latencyOf(client, id, requester(url, approver.token)));
        return latencies;
      };
      await round();
      const measured: number[][] = [];
      for (let n = 0; n < pace.rounds; n++) {
        const latencies = await round();
        measured.push(latencies);
        const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
        say(`round ${n + 1}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
      }
      const medians = measured.map(median);
      return [
        {
          name: 'approval-latency',
          unit: 'ms (p50)',
          ours: median(measured.flat()),
          reference: null,
          ratio: null,
          spread: spreadOf(medians),
          note: 'answer to the approval until the held change is written; aim: 150',
        },
      ];
    } finally {
      await installation.close();
    }
  },
};

/** Approves the held change of a task. @returns milliseconds from the answer until the task has changed */
async function latencyOf(
  client: ApiInstallation['client'],
  taskId: string,
  ask: ReturnType<typeof requester>,
): Promise<number> {
  const first = async (query: string) => (await client.query<{ id: string }>(query, [taskId])).rows[0];
  const asked = `select a.id from workflow_assignments a join workflow_instances i on i.id = a.instance_id
    where i.subject_id = $1 and i.status = 'waiting' and a.status = 'pending'`;
  let assignment = await first(asked);
  while (!assignment) {
    await pause(20);
    assignment = await first(asked);
  }
  await ask('POST', `/v1/workflow-assignments/${assignment.id}/approve`, {});
  const answeredAt = performance.now();
  while (!(await first(`select id from tasks where id = $1 and status = 'completed'`))) await pause(1);
  return performance.now() - answeredAt;
}

function requester(url: string, token: string) {
  return async (method: string, path: string, body: object = {}): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
    const answered = (await answer.json()) as Record<string, unknown>;
    if (!answer.ok) throw new Error(`approval-latency: ${method} ${path}: ${JSON.stringify(answered)}`);
    return answered;
  };
}

function definitionFor(approverId: string): object {
  const params = { targets: [{ type: 'USER', id: approverId }], fields: ['status'], required_count: 1 };
  return {
    name: 'Approval of completed tasks',
    record_kind: 'task',
    document: {
      schemaType: 'Task',
      triggers: [{ operation: 'UPDATE', fields: ['status'], expression: "object.status == 'completed'" }],
      actions: [{ key: 'agree', type: 'REQUEST_APPROVAL', params }],
    },
  };
}
