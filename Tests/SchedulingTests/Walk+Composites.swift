import Model

@testable import Coordinator

// Composite caches, in every second walk.
extension Walk {
    /// Makes the cache names used by loads stand for 1 to 4 caches, with policies of their own.
    mutating func drawComposites(seed: UInt64) {
        guard seed.isMultiple(of: 2) else { return }
        var composites = DrawnComposites(seed: seed)
        stack.send(.caches(composites.drawAgain()))
        stack.composites = composites
    }

    /// Reloads the configuration, or addresses an operator's command to one of these caches.
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

    /// The cache in which an entry of memory is published: usually a member of a composite, whose
    /// name is then used in half of the cases.
    mutating func publishedCache() -> (cache: String, name: String?) {
        guard stack.composites?.isDrawn(oneIn: 4) == false,
            let (name, cache) = stack.composites?.member()
        else { return ("", nil) }
        return (cache, stack.composites?.isDrawn(oneIn: 2) == true ? name : nil)
    }

    /// Records the cache of a load, which may be answered only from the caches of its policy.
    mutating func ask(_ name: String?, for request: ImageRequest) {
        guard let name, let client = pick(stack.clients.sorted()) else { return }
        var terms = LoadTerms()
        (terms.cache, terms.originalCache) = (name, name)
        stack.load(request, by: client, terms: terms)
    }
}
