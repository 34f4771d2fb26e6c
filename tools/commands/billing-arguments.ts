import { isId } from '#entities/kit/base/ids.ts';
import { parseInstant } from '#entities/kit/base/instant.ts';
import { productModules, type ProductModule } from '#entities/kit/model/product-modules.ts';
import { ArgumentError, type Arguments, type CommandForm, type Tool } from './tool.ts';

/** A command about what organizations pay for. */
export type BillingCommand =
  | { readonly name: 'list' | 'catalogue check' | 'webhook status' }
  | {
      readonly name: 'grant' | 'revoke';
      readonly organizationId: string;
      readonly module: ProductModule;
      readonly endsAt: Date | null;
    }
  | { readonly name: 'webhook register'; readonly apiVersion: string | undefined };

const options = { until: 'string', 'api-version': 'string' } as const;

export const billingTool: Tool<typeof options, BillingCommand> = {
  name: 'billing',
  needs: 'The database',
  options,
  commands: {
    list: {
      usage: [['list', 'who has and pays what, until when, and what differs from the payment provider']],
      read: () => ({ name: 'list' }),
    },
    grant: change('grant', '[--until INSTANT]', 'gives an organization a product module, whatever it pays', ['until']),
    revoke: change('revoke', '', 'ends that', []),
    catalogue: {
      usage: [['catalogue check', 'compares the prices of the catalogue with those of the payment provider']],
      operand: 'command: check',
      read: ({ operands: [word] }) => {
        if (word !== 'check') throw new ArgumentError('catalogue takes one command: check');
        return { name: 'catalogue check' };
      },
    },
    webhook: {
      usage: [
        ['webhook status', 'shows where the payment provider sends its events'],
        [
          'webhook register [--api-version VERSION]',
          'has it send them to subscription.paymentwebhookurl, and prints the secret, once',
        ],
      ],
      operand: 'command: status or register',
      options: ['api-version'],
      read: ({ operands: [word], values: { 'api-version': apiVersion } }) => {
        if (word === 'register') return { name: 'webhook register', apiVersion };
        if (word !== 'status' || apiVersion !== undefined)
          throw new ArgumentError('webhook takes one command: status, or register [--api-version VERSION]');
        return { name: 'webhook status' };
      },
    },
  },
  notes: `  ORGANIZATION is an id, MODULE one of
  ${productModules.join(', ')}`,
};

function change(
  name: 'grant' | 'revoke',
  more: string,
  does: string,
  wanted: readonly 'until'[],
): CommandForm<typeof options, BillingCommand> {
  return {
    usage: [[`${name} ORGANIZATION MODULE ${more}`.trim(), does]],
    operand: { times: 'any' },
    options: wanted,
    read: ({ operands: [organizationId = '', module = '', ...surplus], values }) => {
      if (!isId(organizationId)) throw new ArgumentError(`${name} takes the id of an organization and a module`);
      if (!isModule(module) || surplus.length > 0)
        throw new ArgumentError(`${name} takes one module of ${productModules.join(', ')}`);
      return { name, organizationId, module, endsAt: endOf(values) };
    },
  };
}

function endOf({ until }: Arguments<typeof options>['values']): Date | null {
  if (until === undefined) return null;
  const end = parseInstant(until);
  if (!end) throw new ArgumentError('--until is not an instant as of RFC 3339, such as 2027-01-31T00:00:00Z');
  return end;
}

function isModule(text: string): text is ProductModule {
  return (productModules as readonly string[]).includes(text);
}
