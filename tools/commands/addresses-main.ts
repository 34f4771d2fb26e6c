import { runAddressCommand, type AddressCommand } from './address-commands.ts';
import { asked, runTool, type Tool } from './tool.ts';

const options = { reason: 'string' } as const;
const addresses: Tool<typeof options, AddressCommand> = {
  name: 'addresses',
  needs: 'Database, Temporal and a worker',
  options,
  commands: {
    list: {
      usage: [['list', 'addresses that get no e-mails about accounts, and why']],
      read: () => ({ name: 'list' }),
    },
    release: {
      usage: [['release ADDRESS --reason TEXT', 'sends them there again, also at the provider']],
      operand: 'address',
      options: ['reason'],
      read: ({ operands: [address = ''], values }) => ({ name: 'release', address, reason: asked(values).reason }),
    },
  },
};

await runTool(addresses, runAddressCommand);
