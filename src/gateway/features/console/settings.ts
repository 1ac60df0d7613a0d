// The settings in effect, as the program that runs the gateway knows them. Their secrets were masked there; what this process has learned since is masked here.
import { visible } from '../../../kernel/base/visible.ts';
import type { ReadSettings, ShownSettings } from '../../../kernel/config/shown-setting.ts';
import { secrets } from '../../../kernel/secrets/secrets.ts';

const NONE: ShownSettings = { file: null, settings: [], pending: [] };

export async function toShownSettings(read: ReadSettings | undefined): Promise<ShownSettings> {
  const { file, settings, pending } = (await read?.()) ?? NONE;
  return {
    file: file === null ? null : visible(file),
    settings: settings.map((one) => ({
      ...one,
      key: visible(one.key),
      value: visible(secrets.mask(one.value)),
      place: one.place === null ? null : visible(one.place),
    })),
    pending,
  };
}
