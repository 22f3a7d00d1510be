import Dispatching
import ImageModel
import Messages
import Tables

// A result that exists goes to where clients read, and to the tiers that keep it.
extension Deriver {
    /// Has the cache copy the result to where clients read, under its key unless no tier may keep
    /// it. It is finished even when nobody waits any more.
    mutating func deliver(_ node: ResultNode.ID, _ product: ResultNode.Product) {
        if results[node].isOriginal || results[node].chain != nil {
            transcodeBody(of: node, product)
        }
        removeOutdatedResult(of: node)
        let tiers = results[node].plainTiers
        let work = StoreWork(
            key: tiers.isEmpty ? nil : results[node].text, source: product.reference,
            tiers: tiers, delivers: true,
            waitsForDisk: results[node].policy.waitsForDisk && tiers.contains(.disk),
            metadata: product.metadata)
        let job = submit(
            .store(work), for: .delivery(node), reading: product.block,
            results[node].consumers.urgency, maker: .transform(results[node].name.key))
        results[node].beganDelivery(job, of: product)
    }

    /// The copy is where clients read: waiters are answered. A waiter that joined meanwhile and
    /// wants the result kept in other tiers waits for another round.
    mutating func delivered(
        _ node: ResultNode.ID, _ report: StoreReport, _ job: Completion.Ended
    ) {
        guard let reference = report.delivered, let product = results[node].product,
            let cache = job.worker
        else {
            preconditionFailure("a delivery was asked for and was checked")
        }
        tell(.noticed(reference, cache))
        let block = BlockHandle(worker: cache, block: reference.block)
        let result = results[node]
        if !report.tiers.isEmpty {
            overtakeQueries(of: result.text, result.name.key.decode.source)
            if result.name.origin.isRevalidation { outdateQueries(of: result.text) }
        }
        var image = DeliveredImage(
            reference: reference, info: product.metadata.info, cacheType: result.provenance.tier,
            key: CacheKey.key(inStored: result.text),
            storedTiers: report.tiers.union(result.transcoded))
        (image.digest, image.isDamaged) = (report.digest, result.isDamaged)
        let served = results[node].consumers.takeAll { result.serves($0.storePolicy) }
        complete(served, image, block, result)
        if results[node].consumers.isEmpty { retire(node) } else { deliver(node, product) }
    }

    /// Waiters have their image. Those under `waitStoreCache` begin to wait for stores at once;
    /// replies follow.
    mutating func complete(
        _ waiters: [Waiter], _ image: DeliveredImage, _ block: BlockHandle?, _ result: ResultNode
    ) {
        let made = Made(image, result)
        let isLast = { (waiter: Waiter) in made.isFetched || !waiter.order.plan.refreshes }
        for waiter in waiters where waiter.order.waitsForStores && isLast(waiter) {
            tell(.kept(made, block, waiter.id, standBy(waiter, result, image, block)))
        }
        tell(waiters.filter { !$0.order.waitsForStores || !isLast($0) }) {
            .made(made, block, $0)
        }
    }

    /// A delivery waits for space only as long as somebody waits for it: readers may keep large
    /// blocks for ever.
    mutating func waitsForSpace(_ node: ResultNode.ID, _ may: Bool) {
        if let job = results[node].job { mayWaitForSpace(job, may) }
    }
}
