import ImageModel
import Messages

@testable import Admission

// Names that stand for several caches: in every second walk.
extension Walk {
    /// The names of the caches that loads ask stand for 1 to 4 others, by policies of their own.
    mutating func drawComposites(seed: UInt64) {
        guard seed.isMultiple(of: 2) else { return }
        var composites = DrawnComposites(seed: seed)
        stack.send(.caches(composites.drawAgain()))
        stack.composites = composites
    }

    /// The configuration is loaded anew, or an operator means one of these caches.
    mutating func mean(_ command: inout CacheCommand) {
        guard var composites = stack.composites else { return }
        if composites.isDrawn(oneIn: 3) {
            let layout = composites.drawAgain()
            stack.composites = composites
            stack.send(.caches(layout))
        }
        if composites.isDrawn(oneIn: 2), !command.key.isEmpty {
            let name = DrawnComposites.names[command.key.utf8.count % 3]
            command.cache = composites.isDrawn(oneIn: 2) ? composites.cache() : name
        }
        stack.composites = composites
    }

    /// In which cache an entry of memory is published: mostly in one of those that stand below a
    /// name, which is then asked for it in every second case.
    mutating func publishedCache() -> (cache: String, name: String?) {
        guard stack.composites?.isDrawn(oneIn: 4) == false,
            let (name, cache) = stack.composites?.member()
        else { return ("", nil) }
        return (cache, stack.composites?.isDrawn(oneIn: 2) == true ? name : nil)
    }

    /// Who asks a name is answered from the caches of its policy, and from no others.
    mutating func ask(_ name: String?, for request: ImageRequest) {
        guard let name, let client = pick(stack.clients.sorted()) else { return }
        var terms = LoadTerms()
        (terms.cache, terms.originalCache) = (name, name)
        stack.load(request, by: client, terms: terms)
    }
}
