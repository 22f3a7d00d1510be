import ImageModel
import Messages

// Work that will not be done, and what becomes of those who wait for it.
extension Deriver {
    mutating func tearDown(_ node: SourceNode.ID, _ disposition: Disposition) {
        for decode in sources[node].consumers.members where decodes.contains(decode) {
            tearDown(decode, disposition)
        }
    }

    mutating func tearDown(_ node: DecodeNode.ID, _ disposition: Disposition) {
        for consumer in decodes[node].consumers.members {
            switch consumer {
            case .result(let result): tearDown(result, disposition)
            case .overlay(let overlay): resolve(disposition, overlay, of: node)
            }
        }
    }

    /// The node is over; with the last result its decode is, and with the last decode its source.
    mutating func tearDown(_ node: ResultNode.ID, _ disposition: Disposition) {
        let waiters = results[node].consumers.members
        retire(node)
        tell(waiters) { .disposed(disposition, $0) }
    }
}
