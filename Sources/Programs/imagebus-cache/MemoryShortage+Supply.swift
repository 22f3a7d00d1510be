import Caching
import Linux

extension MemoryShortage.Supply {
    /// What the kernel says.
    init(_ supply: MemorySupply) {
        self.init()
        limitBytes = supply.limitBytes
        usedBytes = supply.usedBytes
        stallPercent = supply.stallPercent
        availableBytes = supply.availableBytes
        totalBytes = supply.totalBytes
    }
}
