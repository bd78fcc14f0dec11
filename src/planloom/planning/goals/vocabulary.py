"""Words that shape a request: analyses, ways to compute, periods, grouping, order, negation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from planloom.notes import Note
from planloom.planning.goals.wording import norms, tokenize

Tag = Literal[
    "kind",  # an analysis: trend, share, ranking, compare, overview
    "vague",  # a wish for an analysis without saying which
    "how",  # a way to aggregate
    "count",  # asks how many there are of what stands beside it
    "grain",  # length of a period
    "by",  # what follows groups the rows
    "split",  # what follows, or stands before, splits what was named
    "which",  # what follows is searched for
    "best",  # the highest first
    "worst",  # the lowest first
    "common",  # the most frequent first
    "not",  # something is left out: what follows, or as its data says
    "only",  # what follows is kept
    "and",  # joins two things or two wishes
    "then",  # begins another wish
    "versus",  # sets two things against each other
    "number",  # a number in words
    "counter",  # a Chinese measure word, which makes the number before it a count
    "unsupported",  # an analysis that does not exist here yet
    "over",  # what follows is the axis, or a bound
    "limit",  # a bound follows
    "bound",  # a bound stands before
    "target",  # introduces the quantity wanted
    "filler",
]

# Each block opens with its tag and, where it has one, which of the tag; words stand between "|".
_WORDS = """
# kind trend
trend|trending|over time|time series|timeline|line chart|line graph|development|develop|developed|
evolution|evolve|evolved|growth|grow|grew|growing|change|changed|changing|progress|progression|
increase|increased|decrease|decreased|decline|declined|rise|rising|fluctuation|seasonality|
seasonal|year over year|year on year|yoy|month over month|mom|trajectory|through time|across time|
by time|history of|趋势|走势|变化|变动|增长|增速|增幅|同比|环比|随时间|按时间|时间序列|折线图|
折线|曲线|发展|演变|波动|下降|上升|涨跌|季节性|变化趋势|增长趋势|发展趋势|变化情况|增长情况|走向|
趋势图|历年|逐年|随时间变化|随时间的变化|怎么变|如何变化
# kind share
share|proportion|breakdown|break down|break|broken down|contribution|contribute|contributed|
percentage|percent|composition|pie|pie chart|donut|donut chart|doughnut|split|distribution|
distributed|mix|makeup|make up|fraction|portion|占比|构成|比例|份额|分布|占|比重|贡献|贡献度|
贡献率|组成|结构|饼图|环形图|占比情况|分布情况|百分比|市场份额|构成情况|占多少|所占比例
# kind ranking
rank|ranking|ranked|leaderboard|league table|sort|sorted|order by|排名|排行|排行榜|排序|榜单|
排名情况|名次|龙虎榜
# kind compare
compare|compared|comparison|comparing|differ|difference|different|bar chart|bar graph|
column chart|benchmark|per group|对比|比较|差异|差别|柱状图|条形图|对照|相比|对比情况|区别|
不同之处
# kind overview
overview|summary|summarize|summarise|key figure|key figures|kpi|headline figures|general picture|
big picture|snapshot|describe|description|descriptive|概况|概览|总体|总览|总结|汇总|整体|整体情况|
总体情况|基本情况|概述|摘要|描述统计|描述性统计|关键指标|全貌
# vague
analysis|analyse|analyze|analysing|analyzing|report|insight|explore|exploration|dashboard|examine|
study|investigate|review|look into|look at|performance|分析|报告|洞察|研究|探索|报表|看看|看一下|
分析报告|数据分析|解读|表现|情况如何|怎么样|做个报告|写个报告|了解|梳理|挖掘
# how sum
total|sum|sum of|overall|altogether|combined|aggregate|cumulative|gross|总|总计|合计|总和|总共|
一共|累计|求和|加总|总的|总量
# how mean
average|mean|avg|averaged|on average|typical|per capita|平均|均值|平均值|人均|平均数|平均分|
平均水平|均分|平均每|店均
# how median
median|middle value|中位数|中位值|中值
# how max
maximum|max|peak|最大值|峰值|最高值
# how min
minimum|min|最小值|最低值|谷值
# how count_distinct
distinct|unique|deduplicated|different kinds of|去重|不重复|独立|唯一|去重后|去重统计
# count
number of|how many|count|count of|counted|no of|amount of people|headcount|head count|frequency|
tally|volume|多少个|多少|个数|人数|次数|数|量|数量|数目|几个|多少人|多少名|多少次|多少家|有几|户数|
单数|频次|频数|频率|条数|总数|人次|笔数|家数|总人数|计数|有多少|例数
# grain day
day|daily|per day|day by day|each day|every day|by day|days|每日|每天|按日|按天|日度|逐日|当日|
日均|天|日
# grain week
week|weekly|per week|week by week|each week|every week|by week|每周|按周|周度|逐周|每星期|周|星期
# grain month
month|monthly|per month|month by month|each month|every month|by month|每月|每个月|按月|按月份|
月度|逐月|月份|各月|各月份|月|按月度|分月
# grain quarter
quarter|quarterly|per quarter|quarter by quarter|each quarter|every quarter|by quarter|每季|
每季度|按季|按季度|季度|逐季|各季度|每个季度|分季度
# grain year
year|yearly|annual|annually|per year|year by year|each year|every year|by year|per annum|每年|
按年|按年份|按年度|年度|年份|逐年|历年|各年|各年度|各年份|年|分年
# by
by|per|for each|for every|across|among|each|every|at each|in each|within each|grouped by|group by|
according to|along|for different|between|at every|in every|for all|from different|of different|
of each|of every|of all|in different|at different|by different|separately for|as a function of|按|
按照|各|各个|每个|每|不同|分|根据|依据|依|按各|按不同|针对各|每一个|
各种|以各|
每台|每辆|每座|每栋|每间|每笔|每架|每艘|每张|每一台|每一辆|每一座|每条|每一条|各台|各辆|各座|各架
# by share
broken down by|split by|divided by|breakdown by|broken down into
# split
间|之间|划分|分类统计|分组统计|维度|维度上|细分|拆分|拆解|来看|分别
# which
which|what|who|whose|where|哪个|哪些|哪|哪家|哪种|哪位|哪类|什么|谁|哪几个|哪里
# best
top|best|highest|largest|biggest|most|leading|greatest|strongest|maximum value|high|more|busiest|
best selling|bestselling|most profitable|most expensive|longest|oldest|fastest|hottest|richest|
head|best performing|most valuable|most important|最高|最大|最多|最好|最佳|最强|最优|前|最长|最热|
最快|最贵|最火|最畅销|畅销|热销|靠前|领先|名列前茅|最赚钱|最受欢迎|头部|最值钱|贡献最大|优秀|
最重要|最老
# worst
bottom|worst|lowest|smallest|least|fewest|weakest|poorest|low|minimum value|slowest|coldest|
cheapest|shortest|youngest|worst performing|worst selling|lagging|最低|最小|最少|最差|最弱|倒数|
垫底|末位|后|最短|最慢|最冷|最便宜|落后|靠后|滞销|最滞销|最年轻|尾部
# common
most common|most frequent|most popular|commonest|popular|frequent|most often|most frequently|
most used|most visited|most active|最常见|常见|最频繁|最普遍|高频|最常用|出现最多|最活跃
# not
without|except|excluding|exclude|exclude all|not|no|skip|ignore|ignoring|leave out|leaving out|
apart from|other than|but not|do not|don't|dont|omit|omitting|except for|minus|besides|never|
everything but|everything except|all but|all except|anything but|anything except|everyone but|
any but|not including|not counting|does not include|exclusive of|disregard|disregarding|remove|
removing|filter out|filtering out|take out|discard|discarding|unless|instead of|rather than|
isn't|aren't|wasn't|weren't|doesn't|didn't|hasn't|haven't|shouldn't|won't|can't|不要|除了|除去|除|
不含|不包括|不包含|排除|排除掉|剔除|剔除掉|去掉|去除|移除|删除|删去|删掉|扣除|刨除|刨去|抛开|抛去|撇开|
过滤掉|滤掉|筛掉|筛除|不看|不想看|不要看|不需要|不用|别|别看|无需|忽略|忽略掉|不算|不计|不计入|
不考虑|不予考虑|不统计|不计算|不算入|不纳入|不列入|不分析|不涉及|不关心|勿|请勿|去掉了|剔除了|排除了
# not value
outside|outside of|neither|nor|not in|non|drop|dropping|hide|non of|none of|neither of|!=|<>|
≠|不是|不为|不等于|不属于|不在|并非|并不是|而非|而不是|没有|没|未|不|非|无|不处于|不再是
# not but
but
# not only
not only|not just|不仅|不只|不光|不仅仅|不但|不单|不只是|不仅是
# not before
除外|以外|之外|以外的|之外的|不在内|不包括在内|不计在内
# not either
excluded|removed|left out|filtered out|ignored|omitted|taken out|skipped|not included|
are excluded|is excluded|be excluded|were removed|not counted
# only
only|just|nothing but|none but|no one but|
solely|limited to|restricted to|exclusively|filter|filtered|where|只看|仅|只|仅看|只要|
只分析|仅限|只统计|限于|筛选|仅统计|仅分析|只包括|只含
# and
and|plus|as well as|as well|along with|together with|&|及|和|与|以及|还有|跟|、|同|并且|加上|同时|
also|and also|或|or
# then
then|and then|after that|next|additionally|furthermore|finally|secondly|firstly|in addition|然后|
接着|再|并|另外|此外|最后|其次|首先|再看看|以及再|并且再|并列出|还要|也要|顺便|且
# versus
vs|versus|against|compared with|compared to|相比于|比
# over
over|throughout|during|over the
# target
in terms of|measured by|based on|ordered by|sorted by|ranked by|with the|以|依照|为指标|为标准
# limit >
more than|greater than|above|exceeding|higher than|larger than|older than|longer than|bigger than|
>|大于|超过|高于|多于
# limit <
less than|fewer than|below|under|lower than|smaller than|younger than|shorter than|<|小于|低于|
少于|不足|不到
# limit >=
at least|no less than|不低于|不少于|至少|大于等于
# limit <=
at most|no more than|up to|不超过|不高于|至多|最多不超过|小于等于
# bound >=
or more|or above|and above|or older|以上|及以上
# bound <=
or less|or below|and below|or younger|以下|及以下|以内
# bound fail
不及格|未及格|没及格|挂科|failing grade|failing score
# bound pass
及格|passing grade|passing score
# counter
名|个|位|大|家|种|款|项|条|强|类|件|只|天内|城|所|省|支
# filler
a|an|the|of|for|in|on|at|to|from|with|is|are|was|were|be|been|do|does|did|has|have|had|it|its|
this|that|these|those|there|their|our|my|your|us|we|i|me|you|they|them|show|give|list|tell|want|
need|create|make|generate|produce|build|draw|plot|chart|graph|visualize|visualise|display|present|
provide|find|see|know|get|calculate|compute|use|using|please|can|could|would|should|will|like|let|
help|how|why|when|data|dataset|data set|table|file|column|too|so|if|than|as|into|about|regarding|
all|any|some|both|also|much|well|out|up|down|more|less|very|kindly|picture|down by|come|go|going|
look|looking|interested|identify|determine|understand|explain|detail|detailed|information|view|
main|key|different|various|respective|respectively|one|ones|value|figure|highlight|focus|good|
nice|brief|short|full|complete|comprehensive|quick|simple|within|group|grouped|sell|sold|selling|
made|take|same|time|period|interesting|important|recent|general|significant|significantly|latest|
something|anything|everything|thing|stuff|really|tell me|happen|happened|happening|first|second|
third|tomorrow|today|whole|entire|most recent|current|currently|here|new|include|including|的|了|
是|在|有|我|我们|你|您|请|帮|帮我|一下|下|给|给我|给出|列出|展示|显示|看|看看|查看|想|要|想要|
想看|需要|做|做个|做一个|写|生成|画|画出|绘制|图|图表|表|数据|这|这份|这个|那个|该|这些|一份|一个|
进行|对|将|把|用|于|之|所|着|上|中|里|内|等|吗|呢|吧|如何|怎么|怎样|为|从|到|至|由|向|会|能|可以|
能否|是否|情况|方面|相关|关于|所有|全部|全体|整个|及其|其|也|还|都|又|再|就|并|而|但|比如|例如|
找出|找到|告诉|指出|说明|具体|详细|简单|主要|重点|关注|统计|计算|求|得到|得出|算|算出|一|份|张|出|
本|此|使用|通过|基于|来|去|排在|位于|属于|处于|卖得|卖|呈现|反映|体现|体|占比例|结果|总结出|需|应|
最|较|更|很|非常|目前|当前|每一|有没有|是不是|能不能|要不要|会不会|
no longer|等于|equal|equal to|无法|别的
"""

_NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen", "twenty",
)  # fmt: skip

UNSUPPORTED: dict[str, tuple[str, Note]] = {
    "correlation": (
        "correlation|correlate|correlated|relationship|relation|association|associated|"
        "scatter|scatter plot|heatmap|heat map|depend|influence|affect|impact|effect|drive|driver|"
        "相关性|相关系数|关联|关系|相关分析|散点图|热力图|影响|影响因素|关联性|相关关系|因素",
        Note(
            "Correlation (how columns move together) is not among the analyses yet.",
            "暂不支持相关性分析（各列之间如何联动）。",
        ),
    ),
    "forecast": (
        "forecast|forecasting|predict|prediction|predicted|predictive|projection|extrapolate|"
        "预测|预估|预报|未来走势|推算|预判",
        Note(
            "A forecast is not among the analyses yet; the report looks at the past only.",
            "暂不支持预测，报告只分析已有的数据。",
        ),
    ),
    "clustering": (
        "cluster|clustering|segmentation|k-means|kmeans|rfm|聚类|客户分群|分群|用户画像|画像",
        Note(
            "Clustering and segmentation are not among the analyses yet.",
            "暂不支持聚类和分群分析。",
        ),
    ),
    "regression": (
        "regression|regress|machine learning|train a model|classifier|feature importance|"
        "回归|回归分析|机器学习|建模|训练模型",
        Note(
            "Regression and other statistical models are not among the analyses yet.",
            "暂不支持回归等统计建模。",
        ),
    ),
    "test": (
        "significance|significance test|hypothesis test|t-test|anova|chi square|p-value|"
        "a/b test|显著性|显著性检验|假设检验|方差分析|卡方|t检验",
        Note(
            "Tests of statistical significance are not among the analyses yet.",
            "暂不支持统计显著性检验。",
        ),
    ),
    "anomaly": (
        "anomaly|anomalies|outlier|anomaly detection|abnormal|异常|异常值|异常检测|离群|离群点|"
        "离群值",
        Note(
            "Anomaly detection is not among the analyses yet; "
            "the report's data quality part lists unusual values.",
            "暂不支持异常检测；报告的数据质量部分会列出不寻常的值。",
        ),
    ),
    "cohort": (
        "cohort analysis|funnel|retention curve|lifetime value|clv|ltv|basket analysis|"
        "market basket|漏斗|漏斗分析|同期群|购物篮|生命周期价值|复购率|复购",
        Note(
            "Funnels, cohorts and baskets are not among the analyses yet.",
            "暂不支持漏斗、同期群和购物篮分析。",
        ),
    ),
    "histogram": (
        "histogram|box plot|boxplot|density plot|percentile|quantile|standard deviation|variance|"
        "直方图|箱线图|分位数|标准差|方差|四分位",
        Note(
            "The spread of a quantity (histogram, percentiles, variance) is not among the "
            "analyses yet.",
            "暂不支持数值的离散情况分析（直方图、分位数、方差等）。",
        ),
    ),
    "map": (
        "map|choropleth|geographic map|地图|地理分布图",
        Note("Maps are not among the charts yet.", "暂不支持绘制地图。"),
    ),
    "hourly": (
        "hourly|per hour|by hour|hour by hour|each hour|hour of day|hour of the day|"
        "每小时|按小时|各小时|小时|分时|时段|各时段|按时段",
        Note(
            "Hours are finer than a trend can show yet; the shortest period is a day.",
            "趋势图目前最细到天，暂不支持按小时分析。",
        ),
    ),
    "pass rate": (
        "及格率|不及格率|优秀率|达标率|pass rate|passing rate|failure rate",
        Note(
            "The share of rows that meet a condition, such as a pass rate, is not among the "
            "analyses yet.",
            "暂不支持及格率等“满足条件的占比”分析。",
        ),
    ),
    "advice": (
        "recommendation|suggestion|suggest|recommended action|advice|advise|action plan|strategy|"
        "建议|对策|改进措施|优化建议|策略|改进方案|措施",
        Note(
            "Recommendations need judgement that rules do not have; "
            "the report states findings only.",
            "提出建议需要判断力，规则做不到；报告只陈述数据中的发现。",
        ),
    ),
}
"""Analyses people ask for that do not exist yet: their words, and what the user is told."""


@dataclass(frozen=True, slots=True)
class Word:
    """What a phrase does in a goal."""

    tag: Tag
    data: str
    """Which one of its tag: "trend", "mean", "month", "5", ..."""


@cache
def words_by_phrase() -> dict[tuple[str, ...], tuple[Word, ...]]:
    """Return the roles of each phrase, the more telling first; keys are comparable tokens."""
    found: dict[tuple[str, ...], list[Word]] = {}

    def add(tag: Tag, data: str, phrases: str) -> None:
        for phrase in phrases.split("|"):
            word, key = Word(tag, data), _key(phrase)
            if word not in found.setdefault(key, []):
                found[key].append(word)

    for name, (phrases, _) in UNSUPPORTED.items():
        add("unsupported", name, phrases)
    for block in _WORDS.strip().removeprefix("# ").split("\n# "):
        head, _, phrases = block.partition("\n")
        tag, _, data = head.partition(" ")
        add(_tag(tag), data, phrases.replace("\n", ""))
    for n, word in enumerate(_NUMBERS):
        add("number", str(n), word)
    return {key: tuple(words) for key, words in found.items()}


def _tag(word: str) -> Tag:
    for tag in get_args(Tag):
        if tag == word:
            return tag
    raise ValueError(f"'{word}' is not a tag")


def _key(phrase: str) -> tuple[str, ...]:
    # Marks such as "&" and "、" have no comparable letters and stand for themselves.
    return norms(phrase) or tuple(token.norm for token in tokenize(phrase))


@cache
def longest_phrase() -> int:
    """Return the number of tokens of the longest phrase."""
    return max(map(len, words_by_phrase()))
