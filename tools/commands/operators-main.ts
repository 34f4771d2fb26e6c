import { runOperatorCommand, type OperatorCommand } from './operator-commands.ts';
import { asked, runTool, type CommandForm, type Tool } from './tool.ts';

const options = { reason: 'string' } as const;
const operators: Tool<typeof options, OperatorCommand> = {
  name: 'operators',
  needs: 'The database',
  options,
  commands: {
    list: {
      usage: [['list', 'who operates this installation over REST, and who did']],
      read: () => ({ name: 'list' }),
    },
    grant: change('grant', 'lets a user do so; PERSON is an e-mail address or an id'),
    revoke: change('revoke', 'ends that'),
  },
};

function change(name: 'grant' | 'revoke', does: string): CommandForm<typeof options, OperatorCommand> {
  return {
    usage: [[`${name} PERSON --reason TEXT`, does]],
    operand: 'person',
    options: ['reason'],
    read: ({ operands: [person = ''], values }) => {
      const { operator: by, reason } = asked(values);
      return { name, person, by, reason };
    },
  };
}

await runTool(operators, runOperatorCommand);
