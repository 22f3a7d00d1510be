public import ImageModel
public import Messages

// What will be wanted, and how badly (SEMANTICS §12).
extension ImagebusClient {
    /// Begins to load images into the caches, in class low unless the template is of class high;
    /// nothing is delivered. A load of one of the URLs is served before them.
    ///
    /// `template` says how each URL is loaded; its own URL is ignored, and its timeout holds for
    /// each. At most `concurrency` of them are loaded at a time, 1 to 64; all prefetches of this
    /// client together at most as many as the one that may load the most. At most 100,000 URLs. One
    /// that is empty or longer than 8 KiB counts as skipped.
    public func prefetch(
        _ urls: [String], template: ImageRequest = ImageRequest(url: ""), concurrency: Int = 3
    ) -> PrefetchTask {
        let task = PrefetchTask(token: tokens.next(), commands: commands)
        guard (1...RequestLimits.prefetchConcurrencyMax).contains(concurrency) else {
            let most = RequestLimits.prefetchConcurrencyMax
            task.finish(
                .failure(ImageError(.invalidRequest, "1 to \(most) URLs are loaded at a time")))
            return task
        }
        let order = PrefetchOrder(
            batch: task.token, template: template, urls: urls, concurrency: concurrency)
        if !commands.post(.prefetch(order, task)) {
            task.finish(.failure(commands.refusal))
        }
        return task
    }

    /// Changes the class of a load; does nothing once it has ended.
    public func reprioritise(_ task: LoadTask, _ priority: Priority) {
        _ = commands.post(.reprioritise(task.token, priority))
    }

    /// Changes the class of all URLs of a prefetch that have not ended.
    public func reprioritise(_ task: PrefetchTask, _ priority: Priority) {
        _ = commands.post(.reprioritise(task.token, priority))
    }

    /// Changes the class of all loads of a group that were begun before.
    public func reprioritise(group: GroupID, _ priority: Priority) {
        _ = commands.post(.reprioritiseGroup(group, priority))
    }
}
