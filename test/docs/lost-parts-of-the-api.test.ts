import { buildSchema } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import type { OpenApiDocument } from '#api/http/description/openapi-document.ts';
import { describeApi } from '#tools/generators/describe-api.ts';
import { lostFields } from '#tools/generators/lost-fields.ts';
import { lostOperations } from '#tools/generators/lost-operations.ts';
import { printOpenapi } from '#tools/generators/print-openapi.ts';
import { registry } from '#entities/index.ts';

/** Any part of it is changed. */
type AnyDocument = any; // eslint-disable-line typescript/no-explicit-any -- changed, not read

const today = '2026-05-02';

describe('lost parts of the REST API', () => {
  let text: string;
  beforeAll(async () => {
    text = JSON.stringify(await describeApi(registry));
  });

  /** What is lost when the description changes so. */
  function lostBy(
    change: (document: AnyDocument) => void,
    prepare: (document: AnyDocument) => void = () => {},
  ): string[] {
    const [before, now] = [JSON.parse(text), JSON.parse(text)];
    prepare(before);
    change(now);
    return lostOperations(before as OpenApiDocument, now as OpenApiDocument, today);
  }

  test('nothing is lost when nothing changes, and by what is added', () => {
    expect(lostBy(() => {})).toEqual([]);
    const added = lostBy(({ paths, components: { schemas } }) => {
      paths['/v1/new'] = paths['/v1/tasks'];
      schemas.Task.properties.more = { type: 'string' };
      schemas.CreateTaskInput.properties.more = { type: 'string' };
      schemas.CreateTaskInput.properties.status.enum.push('more');
    });
    expect(added).toEqual([]);
  });

  test.each<[string, (document: AnyDocument) => void, readonly string[]]>([
    ['an operation', ({ paths }) => delete paths['/v1/tasks/{id}'].delete, ['DELETE /v1/tasks/{id} is missing']],
    [
      'the name of an operation',
      ({ paths }) => (paths['/v1/tasks'].get.operationId = 'allTasks'),
      ['GET /v1/tasks is called allTasks, no longer listTasks'],
    ],
    [
      'a parameter',
      ({ paths }) => paths['/v1/tasks'].get.parameters.shift(),
      ['GET /v1/tasks has lost the query parameter first'],
    ],
    [
      'a field of an answer',
      ({ components: { schemas } }) => delete schemas.Task.properties.title,
      ['GET /v1/tasks/{id} has lost title in the answer 200'],
    ],
    [
      'a field of what is listed',
      ({ components: { schemas } }) => delete schemas.ListedTask.properties.title,
      ['GET /v1/tasks has lost title in the items of data of the answer 200'],
    ],
    [
      'the type of a field',
      ({ components: { schemas } }) => (schemas.Task.properties.priority.type = 'string'),
      ['GET /v1/tasks/{id} has string at priority of the answer 200'],
    ],
    [
      'a field of a body',
      ({ components: { schemas } }) => delete schemas.CreateTaskInput.properties.tags,
      ['POST /v1/tasks no longer takes tags in the body'],
    ],
    [
      'a value of a body',
      ({ components: { schemas } }) => schemas.CreateTaskInput.properties.status.enum.shift(),
      ['POST /v1/tasks no longer takes "open" at status of the body'],
    ],
    [
      'what can be left out of a body',
      ({ components: { schemas } }) => schemas.CreateTaskInput.required.push('priority'),
      ['POST /v1/tasks requires priority in the body'],
    ],
  ])('%s is lost', (_name, change, expected) => {
    expect(lostBy(change)).toEqual(expect.arrayContaining([...expected]));
  });

  test('an operation may be missing from its sunset on, not before', () => {
    const remove = ({ paths }: { paths: Record<string, { delete?: object }> }) =>
      delete paths['/v1/tasks/{id}']?.delete;
    const announced = (sunset: string | null) =>
      lostBy(remove, ({ paths }) =>
        Object.assign(paths['/v1/tasks/{id}'].delete, { deprecated: true, 'x-sunset': sunset }),
      );
    expect(announced('2026-05-02')).toEqual([]);
    expect(announced('2026-05-03')).toEqual(['DELETE /v1/tasks/{id} is missing']);
    expect(announced(null)).toEqual(['DELETE /v1/tasks/{id} is missing']);
  });

  test('what would be lost is not printed', () => {
    const { paths, ...rest } = JSON.parse(text) as OpenApiDocument;
    const { '/v1/tasks': _tasks, ...others } = paths ?? {};
    expect(() => printOpenapi(text, { ...rest, paths: others }, today)).toThrow('GET /v1/tasks is missing');
    expect(JSON.parse(printOpenapi(text, { ...rest, paths: paths ?? {} }, today))).toEqual(JSON.parse(text));
  });
});

describe('lost parts of GraphQL', () => {
  const before = `
    type Query { task(id: ID!): Task  old: Int @deprecated(reason: "Use task.") }
    type Task { title: String!  state: State } enum State { OPEN  CLOSED @deprecated }
    input TaskInput { title: String! }`;

  test.each([
    ['nothing', before, []],
    ['a new field', before.replace('state: State', 'state: State more: Int'), []],
    ['what was deprecated', before.replace(/old: .*"\)/, '').replace('CLOSED @deprecated', ''), []],
    ['a field', before.replace('state: State', ''), ['Field Task.state was removed.']],
    [
      'the type of a field',
      before.replace('title: String!  state', 'title: Int!  state'),
      ['Field Task.title changed type from String! to Int!.'],
    ],
    ['a value', before.replace('OPEN', ''), ['Enum value State.OPEN was removed.']],
    [
      'what can be left out of an input',
      before.replace('input TaskInput { ', 'input TaskInput { due: String! '),
      ['A required field TaskInput.due was added.'],
    ],
  ])('%s', (_name, now, lost) => {
    expect(lostFields(before, buildSchema(now))).toEqual(lost);
  });
});
