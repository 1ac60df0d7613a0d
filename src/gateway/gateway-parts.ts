// What a gateway is made of, and how its parts know each other. gateway.ts is what programs see of it; gateway-update.ts replaces some of it.
import { EventHub } from '../kernel/events/event-hub.ts';
import type { JsonObject } from '../kernel/message.ts';
import type { ClientView } from '../kernel/exchange.ts';
import type { Step } from '../kernel/step.ts';
import type { Layer, OpenPages } from '../kernel/target.ts';
import type { LiveLogin } from '../mcp/listen/live-login.ts';
import { HumanChannel } from '../people/human-channel.ts';
import { withInnermost } from './chain/chain.ts';
import { StepLifecycle } from './chain/lifecycle/step-lifecycle.ts';
import { toStep } from './chain/to-step.ts';
import { completeOptions, infoOf, toLogin } from './complete-options.ts';
import { Doors } from './doors.ts';
import { EventsLayer } from './events-layer.ts';
import { FeatureSet } from './feature-set.ts';
import type { GatewayView } from './features/feature.ts';
import { shownTools } from './features/status/shown-tools.ts';
import type { ListedServerTools } from './features/status/shown-tools.ts';
import { Fronts } from './fronts.ts';
import type { Behind } from './fronts.ts';
import type { CompleteOptions, GatewayOptions } from './gateway-options.ts';
import { Members } from './members.ts';
import { openMember } from './open-member.ts';
import type { NamingRules } from './router/public-names.ts';

/** What an update replaces as a whole. */
export interface GatewaySettings {
  readonly groups: Readonly<Record<string, string[]>>;
  readonly startMs: number | undefined;
  /** Of the options. */
  readonly steps: readonly Step[];
  /** Of features; they run after all other steps. */
  readonly innermost: readonly Step[];
}

export class GatewayParts {
  readonly options: CompleteOptions;
  readonly login: LiveLogin | undefined;
  readonly people: HumanChannel;
  readonly features: FeatureSet;
  readonly lifecycle: StepLifecycle;
  readonly members: Members;
  readonly names: NamingRules;
  readonly fronts: Fronts;
  readonly doors: Doors;
  /** Of the moment. */
  settings: GatewaySettings;

  constructor(given: GatewayOptions) {
    const options = (this.options = completeOptions(given));
    const { log, clock, sealer, state, nodes, limits, groups = {}, startMs, names = 'always' } = options;
    const events = new EventHub({ log, clock });
    this.names = { naming: names, servers: Object.keys(options.servers) };
    const login = (this.login = toLogin(options, { base: () => this.people.pageEndpoint.address(), events }));
    const asking = { log, clock, sealer, state, login, events, nodes };
    const people = (this.people = new HumanChannel({ ...options, besides: () => this.#openPages() }, asking));
    const features = new FeatureSet(options, { ...asking, limits, people, gateway: this.#view });
    this.features = features;
    this.lifecycle = new StepLifecycle({ log, clock });
    const steps = (options.steps ?? []).map(toStep);
    this.lifecycle.replace(steps);
    const info = infoOf(options);
    this.members = new Members({
      open: (name, entry) => openMember(name, entry, { info, options, people, features }),
      isLiveSetting: (name) => features.isLiveSetting(name),
    });
    this.members.set(options.servers);
    this.settings = { groups, startMs, steps, innermost: features.stepsFor(this.members.list) };
    const observed: Layer = (next) => new EventsLayer(next, events);
    const layers = [observed, ...features.layers];
    const waits = () => this.settings.startMs;
    this.fronts = new Fronts(this.behind, options, { info, names: this.names, layers, startMs: waits, events });
    const inside = { fronts: this.fronts, login, people, features };
    this.doors = new Doors(options, { ...inside, openPages: () => this.#openPages() });
  }

  get behind(): Behind {
    return this.behindOf(this.settings);
  }

  behindOf({ steps, innermost, groups }: GatewaySettings): Behind {
    return { members: this.features.wrap(this.members.list), steps: withInnermost(steps, innermost), groups };
  }

  /** The listed tools of a server that the steps show to this client. */
  shownTools(listed: ListedServerTools, client: ClientView): Promise<JsonObject[]> {
    const { steps } = this.behind;
    return shownTools(listed, client, { steps, servers: this.names.servers, log: this.options.log });
  }

  async close(): Promise<void> {
    await this.doors.close();
    await this.people.close();
    this.features.close();
    this.login?.close();
    await this.members.close();
    await this.lifecycle.close();
  }

  #openPages(): OpenPages['pages'] {
    return { ...this.members.openPages(this.people.pageEndpoint.host), ...this.features.openPages };
  }

  /** What features see of it. */
  get #view(): GatewayView {
    const parts = (): GatewayParts => this;
    return {
      get members() {
        return parts().members.list;
      },
      get servers() {
        return parts().names.servers;
      },
      get parked() {
        return parts().fronts.parked + parts().people.waiting;
      },
      get metrics() {
        return parts().features.metrics;
      },
      get isStopping() {
        return parts().doors.isStopping;
      },
      shownTools: (listed, client) => this.shownTools(listed, client),
      waitingDefinitions: () => this.features.waitingDefinitions(),
      accept: (shown) => this.features.accept(shown),
      front: (server) => (server === undefined ? this.fronts.whole : this.fronts.part(server)).target,
      judge: (call) => this.features.judge(call),
      get rules() {
        return parts().features.rules;
      },
      get stepNames() {
        return parts().settings.steps.flatMap(({ name }) => name ?? []);
      },
      logins: () => this.features.logins(),
    };
  }
}
