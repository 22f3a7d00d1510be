import ImageModel
import Messages

// Work that will not be done, and what becomes of those who wait for it.
extension Deriver {
    mutating func tearDown(_ node: SourceNode.ID, _ disposition: Disposition) {
        for decode in sources[node].decodes.waiters where decodes.contains(decode) {
            tearDown(decode, disposition)
        }
    }

    mutating func tearDown(_ node: DecodeNode.ID, _ disposition: Disposition) {
        let consumers = decodes[node].consumers.waiters
        for result in decodes[node].results.waiters { tearDown(result, disposition) }
        for consumer in consumers { resolve(disposition, consumer, of: node) }
    }

    /// The node is over; with the last result its decode is, and with the last decode its source.
    mutating func tearDown(_ node: ResultNode.ID, _ disposition: Disposition) {
        let waiters = results[node].waiters.waiters
        retire(node)
        tell(waiters) { .disposed(disposition, $0) }
    }
}
