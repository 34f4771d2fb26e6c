import type { Config } from '#config/objects/root.ts';

/** For tests: where the chat platform is, which is used only while `server.dev` is on, and the pause after a refusal in milliseconds. */
export interface ChatSettings {
  readonly url?: string;
  readonly operatorPauseMs?: number;
}

/** Where system messages go. Tokens and URLs are secrets: they are read for each attempt, and are part of no record or workflow. */
export type ChatTarget =
  /** As the bot of the operator's workspace, to a channel of it. */
  | { readonly as: 'bot'; readonly url: string; readonly token: string; readonly channel: string }
  /** To the channel of an incoming webhook. */
  | { readonly as: 'webhook'; readonly url: string };

const platformUrl = 'https://slack.com/api';

/**
 * The operator's chat (`integrations.chatruntime`): with a bot token and a channel the bot, else the webhook; undefined when neither is
 * configured.
 */
export function chatTarget(
  { integrations, server }: Pick<Config, 'integrations' | 'server'>,
  settings: ChatSettings,
): ChatTarget | undefined {
  const { botToken, defaultChannel, webhookURL } = integrations.chatruntime;
  if (botToken !== '' && defaultChannel !== '') {
    const url = (server.dev ? settings.url : undefined) ?? platformUrl;
    return { as: 'bot', url: `${url}/chat.postMessage`, token: botToken, channel: defaultChannel };
  }
  return webhookURL === '' ? undefined : { as: 'webhook', url: webhookURL };
}
