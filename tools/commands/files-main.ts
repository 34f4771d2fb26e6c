import { runFileCommand, type FileCommand } from './file-commands.ts';
import { ArgumentError, asked, runTool, type Arguments, type Tool } from './tool.ts';

const options = { reason: 'string', missing: 'boolean', all: 'boolean' } as const;
const files: Tool<typeof options, FileCommand> = {
  name: 'files',
  needs: 'Database, Temporal and a worker',
  options,
  commands: {
    backups: {
      usage: [['backups', 'checks copies, and waits until files have them']],
      read: () => ({ name: 'backups' }),
    },
    restore: {
      usage: [
        ['restore ID --reason TEXT', 'brings the bytes of a file back from its copy'],
        ['restore --missing --reason TEXT', 'the same for every file whose bytes are missing'],
        ['restore --all --reason TEXT', 'the same after reading and comparing every file'],
      ],
      operand: { times: 'any' },
      options: ['reason', 'missing', 'all'],
      read: (given) => ({ name: 'restore', what: restoredOf(given), ...asked(given.values) }),
    },
    purge: {
      usage: [['purge ID --reason TEXT', 'removes a released file now']],
      operand: 'id',
      options: ['reason'],
      read: ({ operands: [objectId = ''], values }) => ({ name: 'purge', objectId, ...asked(values) }),
    },
    audit: {
      usage: [['audit', 'compares rows with what is stored']],
      read: () => ({ name: 'audit' }),
    },
  },
};

function restoredOf({ operands, values }: Arguments<typeof options>) {
  const chosen = [
    ...operands.map((objectId) => ({ objectId })),
    ...(values.missing ? (['missing'] as const) : []),
    ...(values.all ? (['all'] as const) : []),
  ];
  const [what] = chosen;
  if (what === undefined || chosen.length > 1) throw new ArgumentError('restore takes one id, --missing or --all');
  return what;
}

await runTool(files, runFileCommand);
