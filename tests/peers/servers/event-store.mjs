// The event store of the SDKs' own examples: keeps the events of a stream so that a client can resume it.
export class InMemoryEventStore {
  #events = [];

  async storeEvent(streamId, message) {
    const eventId = `${streamId}_${this.#events.length}`;
    this.#events.push({ eventId, streamId, message });
    return eventId;
  }

  async getStreamIdForEventId(eventId) {
    return this.#events.find((event) => event.eventId === eventId)?.streamId;
  }

  async replayEventsAfter(lastEventId, { send }) {
    const index = this.#events.findIndex(({ eventId }) => eventId === lastEventId);
    if (index === -1) return '';
    const { streamId } = this.#events[index];
    for (const event of this.#events.slice(index + 1)) {
      if (event.streamId === streamId && Object.keys(event.message).length > 0)
        await send(event.eventId, event.message);
    }
    return streamId;
  }
}
