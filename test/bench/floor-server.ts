import Fastify from 'fastify';
import { Pool, types } from 'pg';
import { displayIdOf } from '#entities/kit/base/display-id.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { task } from '#entities/work/task.ts';

/**
 * The floor: Fastify and pg alone, with the least SQL that answers the same and leaves the same rows. No caller, no rules,
 * no validation, no deadline.
 */
const pool = new Pool({ connectionString: process.env['FLOOR_DATABASE'] ?? '', max: 20, min: 20 });
types.setTypeParser(types.builtins.INT8, Number);

const columns = ['id', 'createdAt', 'updatedAt', 'recordVersion', 'organizationId', ...Object.keys(task.expose)]
  .map(snakeCase)
  .join(', ');

const app = Fastify();

app.route({ method: 'GET', url: '/livez', handler: () => ({ status: 'up' }) });

app.route({
  method: 'GET',
  url: '/v1/tasks/:id',
  handler: async (request) => {
    const { id } = request.params as { readonly id: string };
    const { rows } = await pool.query({
      name: 'read',
      text: `select ${columns} from tasks where id = $1 and deleted_at is null`,
      values: [id],
    });
    return rows[0];
  },
});

app.route({
  method: 'GET',
  url: '/v1/tasks',
  handler: async (request) => {
    const { first, organization } = request.query as { readonly first: string; readonly organization: string };
    const size = Number(first);
    const { rows } = await pool.query<{ id: string; total: number }>({
      name: 'list',
      text: `select ${columns}, (select count(*) from tasks where organization_id = $1 and deleted_at is null) as total
      from tasks where organization_id = $1 and deleted_at is null order by id limit $2`,
      values: [organization, size + 1],
    });
    const data = rows.slice(0, size).map(({ total: _total, ...row }) => row);
    return {
      data,
      page_info: {
        has_next_page: rows.length > size,
        has_previous_page: false,
        start_cursor: cursorOf(data.at(0)),
        end_cursor: cursorOf(data.at(-1)),
      },
      total_count: rows[0]?.total ?? 0,
    };
  },
});

app.route({
  method: 'POST',
  url: '/v1/tasks',
  handler: async (request, reply) => {
    const given = request.body as { readonly title: string; readonly organization: string; readonly person: string };
    const { title, organization, person } = given;
    const [id, at, actor] = [newId(), new Date(), `user:${given.person}`];
    const client = await pool.connect();
    try {
      await client.query('begin');
      const { rows } = await client.query({
        name: 'create',
        text: `insert into tasks (id, created_at, updated_at, created_by, updated_by, record_version, organization_id, display_id,
          title, status, priority, tags, external_urls, assigner_id) values ($1, $2, $2, $3, $3, 1, $4, $5, $6, 'open', 0, '{}', '{}', $7)
        returning ${columns}`,
        values: [id, at, actor, organization, displayIdOf('TSK', id), title, person],
      });
      await client.query({
        name: 'records',
        text: `with h as (insert into history (id, recorded_at, entity_kind, entity_id, organization_id, operation, record_version,
            changed_fields, snapshot, actor, request_id) values ($1, $2, 'task', $3, $4, 'created', 1, $5, $6, $7, $8)),
          t as (insert into desired_tuples (object, relation, subject, organization_id, present)
            values ('task:' || $3, 'parent', 'organization:' || $4, $4, true))
        insert into events (id, occurred_at, topic, entity_kind, entity_id, record_version, organization_id, actor, request_id,
          payload, pending) values ($9, $2, 'task.created', 'task', $3, 1, $4, $7, $8, $10, false)`,
        values: [
          newId(),
          at,
          id,
          organization,
          Object.keys(given),
          JSON.stringify(rows[0]),
          actor,
          request.id,
          newId(),
          JSON.stringify({ changed: Object.keys(given) }),
        ],
      });
      await client.query('commit');
      void reply.code(201).header('location', `/v1/tasks/${id}`);
      return rows[0];
    } catch (error) {
      await client.query('rollback');
      throw error;
    } finally {
      client.release();
    }
  },
});

process.send?.({ url: await app.listen({ host: '127.0.0.1', port: 0 }) });

function cursorOf(row: { readonly id: string } | undefined): string | null {
  return row ? Buffer.from(JSON.stringify([row.id])).toString('base64url') : null;
}
